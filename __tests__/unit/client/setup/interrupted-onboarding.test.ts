import { checkedResult } from '../../../../operator/client/connection/answers';
import type { Commands } from '../../../../operator/client/connection/commands';
import type { HubConnection } from '../../../../operator/client/connection/connection';
import { removeTemporaryUsers } from '../../../../operator/client/setup/interrupted-onboarding';

describe('removeTemporaryUsers', () => {
  const account = { username: 'ada', is_owner: true, system_generated: false };
  const temporary = { ...account, username: 'hub-operator-set-up-1', is_owner: false };
  const theirs = { id: 'ada', name: 'Ada', user_id: 'temporary', device_trackers: ['device_tracker.phone'] };

  async function sentFor(persons: readonly object[]): Promise<unknown[]> {
    const answers: Partial<Record<keyof Commands, unknown>> = {
      'auth/current_user': { id: 'me', name: 'Ada', is_owner: true, is_admin: true },
      'config/auth/list': [
        { ...account, id: 'me' },
        { ...temporary, id: 'temporary' },
      ],
      'person/list': { storage: persons, config: [] },
    };
    const sent: unknown[] = [];
    await removeTemporaryUsers({
      command: async (command: keyof Commands, fields?: object) => {
        if (!(command in answers)) sent.push([command, fields]);
        return checkedResult(command, answers[command] as never);
      },
    } as unknown as HubConnection);
    return sent;
  }
  const deletion = ['config/auth/delete', { user_id: 'temporary' }];

  test('gives the person to the owner with the device trackers, which the hub resets when they are left out', async () => {
    expect(await sentFor([theirs])).toEqual([
      ['person/update', { person_id: 'ada', user_id: 'me', device_trackers: ['device_tracker.phone'] }],
      deletion,
    ]);
  });

  test('reads a person whom another client made without a user', async () => {
    expect(await sentFor([{ id: 'eve', name: 'Eve', device_trackers: [] }])).toEqual([deletion]);
  });
});

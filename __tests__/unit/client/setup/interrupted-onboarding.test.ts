import { checkedResult } from '../../../../operator/client/connection/answers';
import type { Commands } from '../../../../operator/client/connection/commands';
import { HubRejected } from '../../../../operator/client/connection/errors';
import type { HubConnection } from '../../../../operator/client/connection/connection';
import { removeTemporaryUsers } from '../../../../operator/client/setup/interrupted-onboarding';

describe('removeTemporaryUsers', () => {
  const account = { username: 'ada', is_owner: true, system_generated: false };
  const temporary = { ...account, username: 'hub-operator-set-up-1', is_owner: false };
  const theirs = { id: 'ada', name: 'Ada', user_id: 'temporary', device_trackers: ['device_tracker.phone'] };

  async function sentFor(
    persons: readonly object[] | Error,
    sent: unknown[] = [],
    me: object = { id: 'me' },
  ): Promise<unknown[]> {
    const answers: Partial<Record<keyof Commands, unknown>> = {
      'auth/current_user': { id: 'me', name: 'Ada', is_owner: true, is_admin: true },
      'config/auth/list': [
        { ...account, ...me },
        { ...temporary, id: 'temporary', is_owner: 'is_owner' in me },
      ],
      'auth/refresh_tokens': [],
      'person/list': { storage: persons, config: [] },
      'person/update': theirs,
    };
    await removeTemporaryUsers({
      command: async (command: keyof Commands, fields?: object) => {
        if (!(command in answers) || command === 'person/update') sent.push([command, fields]);
        if (command === 'person/list' && persons instanceof Error) throw persons;
        return checkedResult(command, answers[command] as never);
      },
    } as unknown as HubConnection);
    return sent;
  }
  const deletion = ['config/auth/delete', { user_id: 'temporary' }];

  test('assigns the person to the owner together with the device trackers, which the hub resets when they are left out', async () => {
    expect(await sentFor([theirs])).toEqual([
      ['person/update', { person_id: 'ada', user_id: 'me', device_trackers: ['device_tracker.phone'] }],
      deletion,
    ]);
  });

  test.each([
    ['of the temporary user', { id: 'me' }],
    ['of the one who would give way to it', { id: 'me', is_owner: false }],
  ])('deletes no user while the hub does not report who is the person %s', async (_, me) => {
    const sent: unknown[] = [];
    const notLoaded = new HubRejected('unknown_command', 'Unknown command.', 'read');
    await expect(sentFor(notLoaded, sent, me)).rejects.toBe(notLoaded);
    expect(sent).toEqual([]);
  });

  test('reads a person whom another client made without a user', async () => {
    expect(await sentFor([{ id: 'eve', name: 'Eve', device_trackers: [] }])).toEqual([deletion]);
  });
});

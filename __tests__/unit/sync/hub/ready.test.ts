import type { Hub } from '../../../../operator/kinds';
import { readyOutcome } from '../../../../operator/sync/hub/ready';
import { aHub, aHubContext } from '../fixtures';

const BACKUP = {
  status: 'False',
  reason: 'Failed',
  message: 'passwordSecretRef: The Secret x does not exist.',
} as const;

const contextOf = (hub: Hub = aHub()) => ({
  ...aHubContext(hub),
  url: 'http://villa:8123',
  core: { version: '2026.11.0', state: 'RUNNING' } as never,
  client: {} as never,
});

const withCondition = (condition: object) => aHub({ status: { conditions: [condition] } as never });

describe('readyOutcome', () => {
  test('names the hub that answers, and the notices of the steps', () => {
    const context = contextOf();
    context.notices.push('It has banned its node.');
    context.conditions.BackupConfigured = { status: 'True', reason: 'Applied', message: 'Set.' };
    expect(readyOutcome(context)).toMatchObject({
      type: 'Ready',
      message: 'Home Assistant 2026.11.0 answers at http://villa:8123 (RUNNING). It has banned its node.',
    });
    expect(context.events).toEqual([]);
  });

  test.each([
    ['BackupConfigured', BACKUP, /Backups are not set up: passwordSecretRef/, 'BackupNotConfigured'],
    [
      'StorageReady',
      { status: 'False', reason: 'Mismatch', message: 'villa-config has lost its volume.' },
      /The volume needs help: villa-config has lost/,
      'StorageMismatch',
    ],
  ] as const)(
    'names the part that %s reports as not set up, with an event',
    (type, condition, words, reason) => {
      const context = contextOf();
      context.conditions[type] = condition;
      expect(readyOutcome(context)).toMatchObject({ type: 'Ready', message: expect.stringMatching(words) });
      expect(context.events).toEqual([{ type: 'Warning', reason, message: expect.stringMatching(words) }]);
    },
  );

  test('emits the event once, and again with other words', () => {
    const before = { ...BACKUP, type: 'BackupConfigured', lastTransitionTime: '', observedGeneration: 1 };
    const same = contextOf(withCondition(before));
    same.conditions.BackupConfigured = BACKUP;
    expect(readyOutcome(same).message).toContain('Backups are not set up');
    expect(same.events).toEqual([]);
    const other = contextOf(withCondition({ ...before, message: 'Another cause.' }));
    other.conditions.BackupConfigured = BACKUP;
    readyOutcome(other);
    expect(other.events).toHaveLength(1);
  });

  test('leaves out a volume that is only growing', () => {
    const context = contextOf();
    context.conditions.StorageReady = { status: 'False', reason: 'Expanding', message: 'It grows.' };
    expect(readyOutcome(context).message).not.toContain('It grows');
  });
});

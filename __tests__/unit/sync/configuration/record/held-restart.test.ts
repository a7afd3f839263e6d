import { restartHeldBy } from '../../../../../operator/sync/configuration/record/held-restart';
import { aHub } from '../../fixtures';

type Values = Readonly<Record<string, readonly [reason: string, message?: string]>>;

/** What holds a restart for new content back, beside these conditions of the Hub. */
function heldBy(values: Values) {
  const conditions = Object.entries(values).map(([type, [reason, message = '']]) => ({
    type,
    status: type === 'Stalled' || type === 'Suspended' ? 'True' : 'False',
    reason,
    message,
  }));
  return restartHeldBy(aHub({ status: { conditions } as never }));
}

const CLAIM = 'The claim serves another Hub.';

describe('restartHeldBy', () => {
  test.each<[string, Values, string]>([
    ['a pod template that cannot be', { Stalled: ['InvalidSpec'] }, 'InvalidSpec'],
    ['that also in recovery mode', { Ready: ['RecoveryMode'], Stalled: ['InvalidSpec'] }, 'InvalidSpec'],
    ['an older version', { Stalled: ['DowngradeRefused'] }, 'DowngradeRefused'],
    [
      'the claim of another Hub',
      { Stalled: ['NameConflict', `${CLAIM} It is away.`], StorageReady: ['Mismatch', CLAIM] },
      'NameConflict',
    ],
    ['a suspended Hub', { Ready: ['HubRunning'], Suspended: ['Suspended'] }, 'Suspended'],
    ['a Hub with dry-run', { Ready: ['DryRun'] }, 'DryRun'],
  ])('names %s', (_, values, reason) => {
    expect(heldBy(values)).toBe(reason);
  });

  test.each<[string, Values]>([
    ['nothing', {}],
    ['a setting that the hub rejects', { Stalled: ['RejectedByHub'] }],
    ['delivery: File', { Stalled: ['NotYetSupported'] }],
    ['an Ingress of another owner', { Stalled: ['NameConflict', 'The Ingress belongs to another.'] }],
    [
      'that beside a claim that differs',
      {
        Stalled: ['NameConflict', 'The Ingress belongs to another.'],
        StorageReady: ['Mismatch', 'It is small.'],
      },
    ],
  ])('is silent about %s', (_, values) => {
    expect(heldBy(values)).toBeUndefined();
  });
});

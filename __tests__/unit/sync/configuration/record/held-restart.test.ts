import { restartHeldBy } from '../../../../../operator/sync/configuration/record/held-restart';
import { aHub } from '../../fixtures';

type Conditions = Readonly<Record<string, string>>;

/** What holds a restart back, beside these conditions of the Hub and its `status.restartHeld`. */
function heldBy(values: Conditions, restartHeld?: string) {
  const conditions = Object.entries(values).map(([type, reason]) => ({ type, reason, message: '' }));
  return restartHeldBy(aHub({ status: { conditions, restartHeld } as never }));
}

describe('restartHeldBy', () => {
  test.each<[string, Conditions, string | undefined, string]>([
    ['a pod template that cannot be applied', { Stalled: 'InvalidSpec' }, 'InvalidSpec', 'InvalidSpec'],
    ['a suspended Hub', { Ready: 'HubRunning', Suspended: 'Suspended' }, undefined, 'Suspended'],
    ['a Hub with dry-run', { Ready: 'DryRun' }, undefined, 'DryRun'],
  ])('names %s', (_, values, restartHeld, reason) => {
    expect(heldBy(values, restartHeld)).toBe(reason);
  });

  test.each<[string, Conditions]>([
    ['nothing', {}],
    ['a mistake that concerns another object', { Stalled: 'InvalidSpec' }],
  ])('is silent about %s', (_, values) => {
    expect(heldBy(values)).toBeUndefined();
  });
});

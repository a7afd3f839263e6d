import { restartHeldBy } from '../../../../operator/sync/configuration/held-restart';
import { aHub, services } from '../fixtures';
import { restartCache, villaConfiguration } from './restart-state';

type Conditions = Readonly<Record<string, string>>;

/** What holds a restart for new content back, beside these conditions of the Hub and its `status.restartHeld`. */
function heldBy(values: Conditions, restartHeld?: string, template = 'sha256:before') {
  const given = services({ cache: restartCache('sha256:after', template) });
  const conditions = Object.entries(values).map(([type, reason]) => ({ type, reason, message: '' }));
  return restartHeldBy(given, villaConfiguration, aHub({ status: { conditions, restartHeld } as never }));
}

describe('restartHeldBy', () => {
  test.each<[string, Conditions, string | undefined, string]>([
    ['a pod template that cannot be applied', { Stalled: 'InvalidSpec' }, 'InvalidSpec', 'InvalidSpec'],
    ['a suspended Hub', { Ready: 'HubRunning', Suspended: 'Suspended' }, undefined, 'Suspended'],
    ['a Hub with dry-run', { Ready: 'DryRun' }, undefined, 'DryRun'],
  ])('names %s', (_, values, restartHeld, reason) => {
    expect(heldBy(values, restartHeld)).toBe(reason);
    // Once it has begun, nothing holds it back.
    expect(heldBy(values, restartHeld, 'sha256:after')).toBeUndefined();
  });

  test.each<[string, Conditions]>([
    ['nothing', {}],
    ['a mistake that concerns another object', { Stalled: 'InvalidSpec' }],
  ])('is silent about %s', (_, values) => {
    expect(heldBy(values)).toBeUndefined();
  });
});

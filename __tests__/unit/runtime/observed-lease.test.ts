import type { Lease } from '../../../operator/runtime/lease-lock';
import { ObservedLease, RELEASED } from '../../../operator/runtime/observed-lease';
import { ManualClock } from '../manual-clock';
import { silentLog } from '../../cluster/silent-log';

describe('ObservedLease', () => {
  test('a released Lease is free at the first read, even when the answer took some time', async () => {
    const clock = new ManualClock();
    const observed = new ObservedLease({
      clock,
      log: silentLog,
      identity: 'new',
      leaseDuration: 15_000,
      grace: 4_800,
    });
    const askedAt = clock.monotonic();
    await clock.advance(20);
    const released = { spec: { holderIdentity: '', leaseDurationSeconds: RELEASED } } as Lease;
    expect(observed.mayBeHeld(released, askedAt)).toBe(false);
  });
});

import { OwnReloadTracker } from '../../../operator/client/own-reload-tracker';
import { ManualClock } from '../manual-clock';

let clock: ManualClock;
let tracker: OwnReloadTracker;

beforeEach(() => {
  clock = new ManualClock();
  tracker = new OwnReloadTracker(clock);
});

describe('OwnReloadTracker', () => {
  test('takes as many reloads for ours as we caused, of each kind', () => {
    tracker.expect('scene');
    tracker.expect('scene');
    expect([1, 2, 3].map(() => tracker.consume('scene'))).toEqual([true, true, false]);
    expect(tracker.consume('script')).toBe(false);
  });

  test('knows the automations that we wrote from those of others', () => {
    tracker.expect('automation', 'ours');
    tracker.expect('automation');
    expect(tracker.consume('automation', 'theirs')).toBe(false);
    expect(tracker.consume('automation', 'ours')).toBe(true);
    expect(tracker.consume('automation')).toBe(true);
  });

  test('does not wait for one that was refused', () => {
    tracker.expect('scene');
    tracker.cancel('scene');
    expect(tracker.consume('scene')).toBe(false);
    tracker.cancel('scene');
    tracker.expect('scene');
    expect(tracker.consume('scene')).toBe(true);
  });

  test('does not take a later one of somebody else for one that never came', async () => {
    tracker.expect('scene');
    await clock.advance(31_000);
    expect(tracker.consume('scene')).toBe(false);
  });

  test('begins anew after announcements were missed', () => {
    tracker.expect('scene');
    tracker.reset();
    expect(tracker.consume('scene')).toBe(false);
  });

  test('keeps nothing of reloads that were announced or are overdue', async () => {
    for (let n = 0; n < 1_000; n++) tracker.expect('automation', `a${n}`);
    for (let n = 0; n < 500; n++) tracker.consume('automation', `a${n}`);
    expect(tracker.size).toBe(500);
    await clock.advance(31_000);
    tracker.expect('scene');
    expect(tracker.size).toBe(1);
  });
});

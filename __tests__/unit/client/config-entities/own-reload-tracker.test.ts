import { OwnReloadTracker } from '../../../../operator/client/config-entities/own-reload-tracker';
import { ManualClock } from '../../manual-clock';

let clock: ManualClock;
let tracker: OwnReloadTracker;

beforeEach(() => {
  clock = new ManualClock();
  tracker = new OwnReloadTracker(clock);
});

describe('OwnReloadTracker', () => {
  test('as many reloads per kind count as own as the operator caused', () => {
    tracker.expect('scene');
    tracker.expect('scene');
    expect([1, 2, 3].map(() => tracker.consume('scene'))).toEqual([true, true, false]);
    expect(tracker.consume('script')).toBe(false);
  });

  test('a write of an automation by the operator does not hide one of another automation', () => {
    tracker.expect('automation', 'ours');
    tracker.expect('automation');
    expect(tracker.consume('automation', 'theirs')).toBe(false);
    expect(tracker.consume('automation', 'ours')).toBe(true);
    expect(tracker.consume('automation')).toBe(true);
  });

  test('a reload that was rejected is no longer expected', () => {
    tracker.expect('scene');
    tracker.cancel('scene');
    expect(tracker.consume('scene')).toBe(false);
    tracker.cancel('scene');
    tracker.expect('scene');
    expect(tracker.consume('scene')).toBe(true);
  });

  test('an expected reload that is overdue does not hide a later one by another client', async () => {
    tracker.expect('scene');
    await clock.advance(31_000);
    expect(tracker.consume('scene')).toBe(false);
  });

  test('reset drops all expected reloads', () => {
    tracker.expect('scene');
    tracker.reset();
    expect(tracker.consume('scene')).toBe(false);
  });

  test('announced and overdue reloads leave no entry', async () => {
    for (let n = 0; n < 1_000; n++) tracker.expect('automation', `a${n}`);
    for (let n = 0; n < 500; n++) tracker.consume('automation', `a${n}`);
    expect(tracker.size).toBe(500);
    await clock.advance(31_000);
    tracker.expect('scene');
    expect(tracker.size).toBe(1);
  });
});

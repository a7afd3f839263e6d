import { Timer } from '../../../operator/base/timer';
import { ManualClock } from '../manual-clock';

describe('Timer', () => {
  let clock: ManualClock;
  let timer: Timer;

  beforeEach(() => {
    clock = new ManualClock();
    timer = new Timer(clock);
  });

  test('calls back once, and is pending until then', async () => {
    const callback = jest.fn();
    timer.set(100, callback);
    expect(timer.pending).toBe(true);
    await clock.advance(100);
    expect(callback).toHaveBeenCalledTimes(1);
    expect(timer.pending).toBe(false);
  });

  test('replaces the pending callback when it is set again', async () => {
    const first = jest.fn();
    const second = jest.fn();
    timer.set(100, first);
    timer.set(200, second);
    await clock.advance(1_000);
    expect(first).not.toHaveBeenCalled();
    expect(second).toHaveBeenCalledTimes(1);
  });

  test('calls nothing back once it is cleared', async () => {
    const callback = jest.fn();
    timer.set(100, callback);
    timer.clear();
    await clock.advance(1_000);
    expect(callback).not.toHaveBeenCalled();
    expect(timer.pending).toBe(false);
  });

  test('can be set by its own callback', async () => {
    const callback = jest.fn(() => {
      if (callback.mock.calls.length < 3) timer.set(100, callback);
    });
    timer.set(100, callback);
    await clock.advance(1_000);
    expect(callback).toHaveBeenCalledTimes(3);
  });
});

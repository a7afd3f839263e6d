import { DeadlineExceeded, withDeadline } from '../../../operator/base/deadline';
import { ManualClock } from '../manual-clock';

const never = () => new Promise<never>(() => undefined);

describe('withDeadline', () => {
  let clock: ManualClock;

  beforeEach(() => {
    clock = new ManualClock();
  });

  test('settles as the work does and leaves no timer behind', async () => {
    const failure = new Error('broken');
    await expect(withDeadline({ clock, delay: 1_000 }, async () => 7)).resolves.toBe(7);
    await expect(withDeadline({ clock, delay: 1_000 }, () => Promise.reject(failure))).rejects.toBe(failure);
    expect(clock.pendingTimers).toBe(0);
  });

  test('rejects at the deadline, with an error that names the delay, and aborts the signal of the work', async () => {
    let given: AbortSignal | undefined;
    const result = withDeadline({ clock, delay: 1_500 }, (signal) => {
      given = signal;
      return never();
    }).catch((error: unknown) => error);
    await clock.advance(1_499);
    expect(given?.aborted).toBe(false);
    await clock.advance(1);
    const error = await result;
    expect(error).toEqual(new DeadlineExceeded('deadline of 1.5 s exceeded'));
    expect(given?.reason).toBe(error);
  });

  test('rejects with the error that it was given for the deadline', async () => {
    const late = new Error('no answer');
    const result = withDeadline({ clock, delay: 1, error: () => late }, never);
    const rejected = expect(result).rejects.toBe(late);
    await clock.advance(1);
    await rejected;
  });

  test('rejects with the reason of a signal that aborts first', async () => {
    const source = new AbortController();
    const reason = new Error('stopped');
    const result = withDeadline({ clock, delay: 1_000, signal: source.signal }, never);
    source.abort(reason);
    await expect(result).rejects.toBe(reason);
    expect(clock.pendingTimers).toBe(0);
  });

  test('does not begin the work when the signal was aborted before', async () => {
    const work = jest.fn(never);
    const signal = AbortSignal.abort(new Error('stopped'));
    await expect(withDeadline({ clock, delay: 1_000, signal }, work)).rejects.toThrow('stopped');
    expect(work).not.toHaveBeenCalled();
  });

  test('leaves no unhandled rejection when the work fails after the deadline', async () => {
    let fail!: (error: Error) => void;
    const work = new Promise<never>((_, reject) => (fail = reject));
    const result = withDeadline({ clock, delay: 1 }, () => work).catch((error: unknown) => error);
    await clock.advance(1);
    fail(new Error('late')); // Jest fails a test with an unhandled rejection.
    await clock.advance(1);
    expect(await result).toBeInstanceOf(DeadlineExceeded);
  });
});

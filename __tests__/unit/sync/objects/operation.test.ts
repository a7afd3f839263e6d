import { Stopping } from '../../../../operator/base/errors';
import { Operation } from '../../../../operator/sync/objects/operation';
import { ManualClock } from '../../manual-clock';

/** Resolves with the operation when it has ended. */
async function ended<T>(run: (operation: Operation<T>) => Promise<T>, clock = new ManualClock()) {
  return new Promise<Operation<T>>((resolve) => {
    const operation = new Operation<T>(clock).start(run, () => resolve(operation));
  });
}

describe('Operation', () => {
  test('begins only after the reconcile that started it has recorded it', async () => {
    let hasBegun = false;
    const operation = new Operation(new ManualClock()).start(
      async () => void (hasBegun = true),
      () => undefined,
    );
    expect({ hasBegun, end: operation.end }).toEqual({ hasBegun: false, end: undefined });
    await new Promise(setImmediate);
    expect({ hasBegun, end: operation.end?.type }).toEqual({ hasBegun: true, end: 'completed' });
  });

  test('has its result and the time of its end when that is reported', async () => {
    const clock = new ManualClock();
    const { end, startedAt } = await ended(async () => {
      await clock.advance(5);
      return 'written';
    }, clock);
    expect(end).toEqual({ type: 'completed', result: 'written', at: startedAt + 5 });
  });

  test.each([
    ['rejects', () => Promise.reject(new Error('no'))],
    [
      'throws at once',
      () => {
        throw new Error('no');
      },
    ],
  ])('keeps the error of work that %s', async (_how, run: () => Promise<void>) => {
    expect((await ended(run)).error).toEqual(new Error('no'));
  });

  test('that is stopped ends at the next request', async () => {
    const { error } = await ended(async (operation) => {
      operation.stop();
      operation.signal.throwIfAborted();
    });
    expect(error).toBeInstanceOf(Stopping);
  });
});

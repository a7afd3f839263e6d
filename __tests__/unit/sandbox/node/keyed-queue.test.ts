import { KeyedQueue } from '../../../../sandbox/node/keyed-queue';

const settle = () => new Promise((resolve) => setImmediate(resolve));

function work() {
  const errors: unknown[] = [];
  return { keyed: new KeyedQueue((error) => errors.push(error)), errors };
}

describe('KeyedQueue', () => {
  test('what is asked for while it runs is done once more, not beside it and not twice', async () => {
    const { keyed } = work();
    const finish: (() => void)[] = [];
    const ask = () => keyed.add('a', () => new Promise<void>((resolve) => finish.push(resolve)));
    ask();
    ask();
    ask();
    await settle();
    expect(finish).toHaveLength(1);
    finish[0]?.();
    await settle();
    expect(finish).toHaveLength(2);
    finish[1]?.();
    await settle();
    expect(finish).toHaveLength(2);
  });

  test('keys do not wait for each other, and a failure is told and ends nothing', async () => {
    const { keyed, errors } = work();
    const done: string[] = [];
    keyed.add('stuck', () => new Promise(() => undefined));
    keyed.add('a', () => Promise.reject(new Error('no')));
    keyed.add('b', async () => void done.push('b'));
    await settle();
    keyed.add('a', async () => void done.push('a'));
    await settle();
    expect(done).toEqual(['b', 'a']);
    expect(errors).toEqual([new Error('no')]);
  });
});

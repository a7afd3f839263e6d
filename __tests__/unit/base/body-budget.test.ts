import { PassThrough } from 'node:stream';
import { BodyBudget, BodyRefused, readBody } from '../../../operator/base/body-budget';
import { until } from '../until';

const KIB = 1024;
const large = Buffer.alloc(100 * KIB, 'x');

/** Returns a body that has sent its first bytes but not its end. */
function arriving(budget: BodyBudget, first: Buffer) {
  const stream = new PassThrough();
  const body = readBody(stream, 1024 * KIB, budget).then(String, (error: Error) => error);
  stream.write(first);
  return { stream, body };
}

const read = async ({ stream, body }: ReturnType<typeof arriving>) => {
  stream.end();
  return body;
};

describe('BodyBudget', () => {
  test('aborts the oldest of the bodies that arrive at the same time, when they take too much memory', async () => {
    const budget = new BodyBudget(300 * KIB);
    const oldest = arriving(budget, large);
    const second = arriving(budget, large);
    await until(() => second.stream.readableLength === 0);
    expect(oldest.stream.destroyed).toBe(false);
    const newest = arriving(budget, large);
    await until(() => oldest.stream.destroyed);
    expect(await oldest.body).toEqual(new BodyRefused('too many large ones arrive at the same time'));
    expect(await read(second)).toHaveLength(large.length);
    expect(await read(newest)).toHaveLength(large.length);
    const tooLong = arriving(budget, Buffer.alloc(1025 * KIB));
    expect(await tooLong.body).toEqual(new BodyRefused(`it is longer than ${1024 * KIB} bytes`));
  });

  test('aborts no body that has ended, and none because of small ones, however many arrive', () => {
    const budget = new BodyBudget(100 * KIB);
    const ended = jest.fn();
    const first = budget.hold(ended);
    first.set(90 * KIB);
    first.release();
    const present = jest.fn();
    budget.hold(present).set(90 * KIB);
    for (let small = 0; small < 20; small++) budget.hold(jest.fn()).set(64 * KIB);
    expect(ended).not.toHaveBeenCalled();
    expect(present).not.toHaveBeenCalled();
    budget.hold(jest.fn()).set(65 * KIB);
    expect(present).toHaveBeenCalled();
  });

  test('a body that was read, or that broke off, no longer counts', async () => {
    const budget = new BodyBudget(100 * KIB);
    const release = jest.fn();
    jest.spyOn(budget, 'hold').mockReturnValue({ set: jest.fn(), release });
    await read(arriving(budget, large));
    expect(release).toHaveBeenCalledTimes(1);
    const broken = arriving(budget, large);
    broken.stream.destroy(new Error('the connection broke'));
    expect(await broken.body).toEqual(new Error('the connection broke'));
    expect(release).toHaveBeenCalledTimes(2);
  });

  test('one body beyond the budget is aborted itself', async () => {
    const alone = arriving(new BodyBudget(64 * KIB), large);
    await until(() => alone.stream.destroyed);
    expect(await alone.body).toBeInstanceOf(BodyRefused);
  });
});

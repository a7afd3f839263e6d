import { setTimeout as sleep } from 'node:timers/promises';
import { SerialQueue } from '../../../operator/client/serial-queue';

describe('SerialQueue', () => {
  test('runs one task at a time, in order, whatever fails', async () => {
    const queue = new SerialQueue();
    const seen: string[] = [];
    const task =
      (name: string, fails = false) =>
      async () => {
        seen.push(`${name} begins`);
        await sleep(1);
        seen.push(`${name} ends`);
        if (fails) throw new Error(name);
        return name;
      };
    const results = await Promise.allSettled([
      queue.run(task('a')),
      queue.run(task('b', true)),
      queue.run(task('c')),
    ]);
    expect(seen).toEqual(['a begins', 'a ends', 'b begins', 'b ends', 'c begins', 'c ends']);
    expect(results.map((result) => result.status)).toEqual(['fulfilled', 'rejected', 'fulfilled']);
  });

  test('is busy from the call to the end', async () => {
    const queue = new SerialQueue();
    expect(queue.busy).toBe(false);
    const running = Promise.allSettled([
      queue.run(() => sleep(1)),
      queue.run(() => Promise.reject(new Error('x'))),
    ]);
    expect(queue.busy).toBe(true);
    await running;
    expect(queue.busy).toBe(false);
  });

  test('once closed begins nothing, answers nothing that waits, and is idle when the running task has ended', async () => {
    const queue = new SerialQueue();
    const answers: string[] = [];
    let end!: () => void;
    const first = queue.run(() => new Promise<void>((resolve) => (end = resolve)));
    const note = (name: string) => queue.run(() => Promise.resolve()).then(() => answers.push(name));
    void note('waits');
    let closed = false;
    const closing = queue.close().then(() => (closed = true));
    void note('comes later');
    await sleep(5);
    expect(closed).toBe(false);
    end();
    await Promise.all([first, closing]);
    expect(queue.busy).toBe(false);
    await sleep(5);
    expect(answers).toEqual([]);
  });

  test('ends with what waits when a failure is one for all', async () => {
    const queue = new SerialQueue({ failFast: (error) => (error as Error).message === 'gone' });
    const ran: string[] = [];
    const results = Promise.allSettled([
      queue.run(() => Promise.reject(new Error('mine'))),
      queue.run(() => Promise.reject(new Error('gone'))),
      queue.run(async () => ran.push('waits')),
    ]);
    expect((await results).map((result) => (result as PromiseRejectedResult).reason?.message)).toEqual([
      'mine',
      'gone',
      'gone',
    ]);
    await queue.run(async () => ran.push('later'));
    expect(ran).toEqual(['later']);
  });
});

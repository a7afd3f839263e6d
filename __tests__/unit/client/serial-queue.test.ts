import { setTimeout as sleep } from 'node:timers/promises';
import { SerialQueue } from '../../../operator/client/serial-queue';

describe('Lane', () => {
  test('runs one task at a time, in order, whatever fails', async () => {
    const lane = new SerialQueue();
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
      lane.run(task('a')),
      lane.run(task('b', true)),
      lane.run(task('c')),
    ]);
    expect(seen).toEqual(['a begins', 'a ends', 'b begins', 'b ends', 'c begins', 'c ends']);
    expect(results.map((result) => result.status)).toEqual(['fulfilled', 'rejected', 'fulfilled']);
  });

  test('is busy from the call to the end', async () => {
    const lane = new SerialQueue();
    expect(lane.busy).toBe(false);
    const running = Promise.allSettled([
      lane.run(() => sleep(1)),
      lane.run(() => Promise.reject(new Error('x'))),
    ]);
    expect(lane.busy).toBe(true);
    await running;
    expect(lane.busy).toBe(false);
  });

  test('once closed begins nothing, answers nothing that waits, and is idle when the running task has ended', async () => {
    const lane = new SerialQueue();
    const answers: string[] = [];
    let end!: () => void;
    const first = lane.run(() => new Promise<void>((resolve) => (end = resolve)));
    const note = (name: string) => lane.run(() => Promise.resolve()).then(() => answers.push(name));
    void note('waits');
    let closed = false;
    const closing = lane.close().then(() => (closed = true));
    void note('comes later');
    await sleep(5);
    expect(closed).toBe(false);
    end();
    await Promise.all([first, closing]);
    expect(lane.busy).toBe(false);
    await sleep(5);
    expect(answers).toEqual([]);
  });

  test('ends with what waits when a failure is one for all', async () => {
    const lane = new SerialQueue({ failFast: (error) => (error as Error).message === 'gone' });
    const ran: string[] = [];
    const results = Promise.allSettled([
      lane.run(() => Promise.reject(new Error('mine'))),
      lane.run(() => Promise.reject(new Error('gone'))),
      lane.run(async () => ran.push('waits')),
    ]);
    expect((await results).map((result) => (result as PromiseRejectedResult).reason?.message)).toEqual([
      'mine',
      'gone',
      'gone',
    ]);
    await lane.run(async () => ran.push('later'));
    expect(ran).toEqual(['later']);
  });
});

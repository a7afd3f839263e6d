import { SerialQueue } from '../../../../operator/client/config-entities/serial-queue';
import { ManualClock, settle } from '../../manual-clock';

let clock: ManualClock;
let started: string[];
/** Ends the running task. */
let end: () => void;

beforeEach(() => {
  clock = new ManualClock();
  started = [];
});

const task = (name: string) => () =>
  new Promise<string>((resolve) => {
    started.push(name);
    end = () => resolve(name);
  });

async function endAll(tasks: number): Promise<void> {
  for (let ended = 0; ended < tasks; ended++) {
    end();
    await settle();
  }
}

describe('SerialQueue', () => {
  test('runs the tasks of a batch one after another and in order, also after a failure', async () => {
    const queue = new SerialQueue({ clock });
    const results = Promise.allSettled([
      queue.run(task('a')),
      queue.run(() => Promise.reject(new Error('b'))),
      queue.run(task('c')),
    ]);
    await settle();
    expect(started).toEqual(['a']);
    await endAll(1);
    expect(started).toEqual(['a', 'c']);
    await endAll(1);
    expect((await results).map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled']);
  });

  test('is busy from the call to the end of the last task', async () => {
    const queue = new SerialQueue({ clock });
    expect(queue.busy).toBe(false);
    const results = [queue.run(task('a')), queue.run(task('b'))];
    expect(queue.busy).toBe(true);
    await endAll(1);
    expect(queue.busy).toBe(true);
    await endAll(1);
    await Promise.all(results);
    expect(queue.busy).toBe(false);
  });

  test('starts a task that comes after a burst before the rest of the burst', async () => {
    const queue = new SerialQueue({ clock });
    for (let n = 1; n <= 500; n++) void queue.run(task(`burst ${n}`));
    await endAll(1);
    await clock.advance(60_000);
    void queue.run(task('edit'));
    await endAll(2);
    expect(started.slice(0, 4)).toEqual(['burst 1', 'burst 2', 'edit', 'burst 3']);
  });

  test('delays a burst by newer tasks but does not stop it', async () => {
    const queue = new SerialQueue({ clock });
    for (let n = 1; n <= 10; n++) void queue.run(task('burst'));
    await clock.advance(60_000);
    for (let n = 1; n <= 100; n++) void queue.run(task('edit'));
    await endAll(40);
    expect(started.slice(1, 41).filter((name) => name === 'burst')).toHaveLength(10 - 1);
  });

  test('starts a task of runNext right after the running one', async () => {
    const queue = new SerialQueue({ clock });
    void queue.run(task('running'));
    void queue.run(task('queued'));
    void queue.runNext(task('reload'));
    await endAll(2);
    expect(started).toEqual(['running', 'reload', 'queued']);
  });

  test('starts no task of run after close, settles none that was queued, and finishes tasks given to runNext', async () => {
    const queue = new SerialQueue({ clock });
    const settled: string[] = [];
    const note = (name: string) => queue.run(task(name)).finally(() => settled.push(name));
    void note('running');
    void note('queued');
    let closed = false;
    const closing = queue.close().then(() => (closed = true));
    void note('later');
    await settle();
    expect(closed).toBe(false);
    await endAll(1);
    await closing;
    expect([started, settled]).toEqual([['running'], ['running']]);
    const last = queue.runNext(task('reload'));
    await endAll(1);
    expect(await last).toBe('reload');
  });

  test('fails queued tasks with an error that concerns all, and continues with later ones', async () => {
    const queue = new SerialQueue({ clock, failFast: (error) => (error as Error).message === 'gone' });
    const results = await Promise.allSettled([
      queue.run(() => Promise.reject(new Error('mine'))),
      queue.run(() => Promise.reject(new Error('gone'))),
      queue.run(task('queued')),
    ]);
    expect(results.map((result) => (result as PromiseRejectedResult).reason?.message)).toEqual([
      'mine',
      'gone',
      'gone',
    ]);
    void queue.run(task('later'));
    await settle();
    expect(started).toEqual(['later']);
  });
});

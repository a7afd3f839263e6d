import type { Priority } from '../../../operator/runtime/priority';
import { type QueueOptions, WorkQueue } from '../../../operator/runtime/queue';
import { ManualClock, settle } from '../manual-clock';
import fc from '../../fast-check';

/** A queue whose work ends on the test's request. Keys are `<partition>/<name>`. */
class Workshop {
  readonly clock = new ManualClock();
  readonly started: string[] = [];
  readonly running = new Map<string, () => void>();
  readonly queue: WorkQueue;

  constructor(options: Partial<QueueOptions> = {}) {
    this.queue = new WorkQueue({
      clock: this.clock,
      workers: 10,
      perPartition: 10,
      slowAfter: 1_000_000,
      hangingAfter: 1_000_000,
      partitionOf: (key) => key.split('/')[0]!,
      work: (key) => {
        if (this.running.has(key)) throw new Error(`${key} is worked twice at once`);
        this.started.push(key);
        return new Promise((resolve) => this.running.set(key, resolve));
      },
      ...options,
    });
    this.queue.start();
  }

  async finish(key: string): Promise<void> {
    const end = this.running.get(key)!;
    this.running.delete(key);
    end();
    await settle();
  }
}

describe('WorkQueue', () => {
  describe('one key', () => {
    test('a key is worked once, however often it was added before', () => {
      const { queue, started } = new Workshop({ workers: 1 });
      queue.add('p/first');
      for (let time = 0; time < 3; time++) queue.add('p/a');
      expect(started).toEqual(['p/first']);
      expect([...queue.queued()]).toEqual(['p/a']);
    });

    test('a key is not worked twice at the same time, and is worked again when it was added in the meantime', async () => {
      const shop = new Workshop();
      shop.queue.add('p/a');
      shop.queue.add('p/a');
      shop.queue.add('p/a');
      expect(shop.started).toEqual(['p/a']);
      await shop.finish('p/a');
      expect(shop.started).toEqual(['p/a', 'p/a']);
      await shop.finish('p/a');
      expect(shop.started).toHaveLength(2);
    });

    test('of several delays the earliest counts', async () => {
      const { clock, queue, started } = new Workshop();
      queue.addAfter('p/a', 5_000);
      queue.addAfter('p/a', 1_000);
      queue.addAfter('p/a', 9_000);
      await clock.advance(999);
      expect(started).toEqual([]);
      await clock.advance(1);
      expect(started).toEqual(['p/a']);
    });

    test.each([3_600_000, -3_600_000])(
      'a key is due in time although the system clock is set by %d ms',
      async (by) => {
        const { clock, queue, started } = new Workshop();
        queue.addAfter('p/a', 1_000);
        clock.set(by);
        queue.addAfter('p/b', 2_000);
        await clock.advance(999);
        expect(started).toEqual([]);
        await clock.advance(1);
        expect(started).toEqual(['p/a']);
        expect(queue.longestRunning()).toBe(0);
        await clock.advance(1_000);
        expect(started).toEqual(['p/a', 'p/b']);
      },
    );

    test('an add makes a delayed key due immediately', async () => {
      const shop = new Workshop();
      shop.queue.addAfter('p/a', 1_000);
      shop.queue.add('p/a');
      await shop.finish('p/a');
      await shop.clock.advance(10_000);
      expect(shop.started).toEqual(['p/a']);
    });

    test('a key keeps its place when it is added again', async () => {
      const shop = new Workshop({ workers: 1 });
      for (const key of ['p/first', 'p/a', 'p/b']) shop.queue.add(key);
      shop.queue.add('p/a');
      await shop.finish('p/first');
      expect(shop.started).toEqual(['p/first', 'p/a']);
    });

    test('a key waits in only one partition, the one to which it belonged last', async () => {
      let partition = 'slow';
      const shop = new Workshop({
        perPartition: 1,
        partitionOf: (key) => (key === 'a' ? partition : 'slow'),
      });
      shop.queue.add('busy');
      shop.queue.add('a');
      partition = 'free'; // the object of this key is gone, and with it the name of its hub
      shop.queue.add('a');
      expect(shop.started).toEqual(['busy', 'a']);
      await shop.finish('busy');
      expect(shop.started).toHaveLength(2);
    });
  });

  describe('order', () => {
    test('changes go before resyncs, in one partition and between partitions', async () => {
      const shop = new Workshop({ workers: 1 });
      shop.queue.add('p/first');
      for (const key of ['p/a', 'p/b', 'q/c']) shop.queue.add(key, 'resync');
      shop.queue.add('q/d');
      shop.queue.add('p/b'); // the key was changed in the meantime
      for (const key of ['p/first', 'p/b', 'q/d', 'p/a', 'q/c']) await shop.finish(key);
      expect(shop.started).toEqual(['p/first', 'p/b', 'q/d', 'p/a', 'q/c']);
    });

    test('partitions take turns, one key at a time', async () => {
      const shop = new Workshop({ workers: 1 });
      for (const key of ['p/first', 'p/1', 'p/2', 'q/1', 'q/2', 'r/1']) shop.queue.add(key);
      for (const key of ['p/first', 'p/1', 'q/1', 'r/1', 'p/2']) await shop.finish(key);
      expect(shop.started).toEqual(['p/first', 'p/1', 'q/1', 'r/1', 'p/2', 'q/2']);
    });

    test('four partitions of sixteen that hang do not change the latency of the others', async () => {
      const latency = async (hangs: (key: string) => boolean) => {
        const waits: number[] = [];
        const shop: Workshop = new Workshop({
          workers: 16,
          perPartition: 4,
          slowAfter: 1_000,
          hangingAfter: 10_000,
          work: (key) => (hangs(key) ? shop.clock.sleep(30_000) : shop.clock.sleep(10)),
          observer: {
            added: () => undefined,
            started: (key, waited) => void (hangs(key) || waits.push(waited)),
            finished: () => undefined,
          },
        });
        for (let hub = 0; hub < 4; hub++)
          for (let name = 0; name < 100; name++) shop.queue.add(`hub${hub}/${name}`);
        await shop.clock.advance(1_000);
        waits.splice(0);
        for (let second = 0; second < 120; second++) {
          for (let hub = 4; hub < 16; hub++)
            for (let name = 0; name < 4; name++) shop.queue.add(`hub${hub}/${name}`);
          await shop.clock.advance(1_000);
        }
        expect(waits).toHaveLength(120 * 12 * 4);
        return { longest: Math.max(...waits), sum: waits.reduce((total, wait) => total + wait, 0) };
      };
      const undisturbed = await latency(() => false);
      const disturbed = await latency((key) => /^hub[0-3]\//.test(key));
      expect(disturbed.longest).toBeLessThanOrEqual(undisturbed.longest + 10);
      expect(disturbed.sum).toBeLessThanOrEqual(1.5 * undisturbed.sum);
    });

    test('a partition has one slot after its work hung, until other work of it is fast', async () => {
      const shop = new Workshop({ perPartition: 4, slowAfter: 1_000, hangingAfter: 10_000 });
      for (let name = 0; name < 9; name++) shop.queue.add(`p/${name}`);
      expect(shop.started).toHaveLength(4);
      await shop.clock.advance(10_000);
      for (let name = 0; name < 4; name++) await shop.finish(`p/${name}`);
      expect([...shop.running.keys()]).toEqual(['p/4']);
      await shop.finish('p/4');
      expect([...shop.running.keys()]).toEqual(['p/5', 'p/6', 'p/7', 'p/8']);
    });

    test('keys that wait only for a partition that hangs do not make the queue busy', async () => {
      const shop = new Workshop({ perPartition: 1, hangingAfter: 10_000 });
      for (const key of ['p/a', 'p/b', 'p/c']) shop.queue.add(key);
      expect(shop.queue.isBusy).toBe(true);
      await shop.clock.advance(10_000);
      await shop.finish('p/a');
      expect([...shop.queue.queued()]).toEqual(['p/c']);
      expect(shop.queue.isBusy).toBe(false);
      for (const key of ['q/a', 'q/b']) shop.queue.add(key);
      expect(shop.queue.isBusy).toBe(true);
    });

    test('resyncs that wait for a worker do not make the queue busy', () => {
      const shop = new Workshop({ workers: 1 });
      for (const key of ['p/a', 'p/b', 'q/a']) shop.queue.add(key, 'resync');
      expect([...shop.queue.queued()]).toEqual(['p/b', 'q/a']);
      expect(shop.queue.isBusy).toBe(false);
      shop.queue.add('q/a');
      expect(shop.queue.isBusy).toBe(true);
    });

    test('a partition that hung is forgotten when it has had no work for half an hour', async () => {
      const shop = new Workshop({ perPartition: 4, slowAfter: 1_000, hangingAfter: 10_000 });
      shop.queue.add('gone/a');
      await shop.clock.advance(10_000);
      await shop.finish('gone/a');
      await shop.clock.advance(20 * 60_000);
      shop.queue.add('p/a');
      expect(shop.queue.partitionCount).toBe(2);
      await shop.finish('p/a');
      await shop.clock.advance(11 * 60_000);
      shop.queue.add('p/a');
      expect(shop.queue.partitionCount).toBe(1);
    });

    test('one partition that hangs does not delay nine others', async () => {
      const shop: Workshop = new Workshop({
        workers: 8,
        perPartition: 4,
        work: (key) => {
          shop.started.push(key);
          return key.startsWith('hub0/') ? new Promise(() => undefined) : shop.clock.sleep(10);
        },
      });
      for (let hub = 0; hub < 10; hub++)
        for (let key = 0; key < 100; key++) shop.queue.add(`hub${hub}/${key}`);
      await shop.clock.advance((900 / 4) * 10); // four workers are left for 900 keys of 10 ms
      expect(shop.queue.active).toBe(4);
      expect(shop.started.filter((key) => !key.startsWith('hub0/'))).toHaveLength(900);
      expect(shop.started.filter((key) => key.startsWith('hub0/'))).toHaveLength(4);
    });
  });

  describe('start and stop', () => {
    test('keys are collected until the queue is started', () => {
      const { queue, started } = new Workshop();
      void queue.stop();
      queue.start(); // a queue that was stopped cannot be started
      queue.add('p/a');
      expect(started).toEqual([]);

      const work = jest.fn(() => Promise.resolve());
      const cold = new WorkQueue({
        clock: new ManualClock(),
        workers: 1,
        perPartition: 1,
        slowAfter: 1_000,
        hangingAfter: 10_000,
        partitionOf: () => '',
        work,
      });
      cold.add('a');
      expect(work).not.toHaveBeenCalled();
      cold.start();
      expect(work).toHaveBeenCalledWith('a');
    });

    test('a stop waits for the work in progress, starts nothing and leaves no timer', async () => {
      const shop = new Workshop({ workers: 1 });
      shop.queue.add('p/a');
      shop.queue.add('p/b');
      shop.queue.addAfter('p/c', 1_000);
      const stopped = jest.fn();
      void shop.queue.stop().then(stopped);
      await settle();
      expect(stopped).not.toHaveBeenCalled();
      await shop.finish('p/a');
      expect(stopped).toHaveBeenCalled();
      await shop.clock.advance(10_000);
      expect(shop.started).toEqual(['p/a']);
      expect(shop.clock.pendingTimers).toBe(0);
    });

    test('a key that waits for a worker, a slot or the start is not unscheduled', async () => {
      const shop = new Workshop({ workers: 2, perPartition: 1 });
      for (const key of ['p/a', 'p/b']) shop.queue.add(key);
      await shop.clock.advance(1_000);
      expect(shop.queue.longestUnscheduled()).toBe(0);
      for (const key of ['q/a', 'r/a']) shop.queue.add(key);
      await shop.clock.advance(1_000);
      expect(shop.queue.longestUnscheduled()).toBe(0);
      void shop.queue.stop();
      await shop.finish('p/a');
      await shop.finish('q/a');
      expect(shop.queue.longestUnscheduled()).toBe(0);
    });

    test('the observer is told how long keys waited and were worked', async () => {
      const told: string[] = [];
      const shop = new Workshop({
        workers: 1,
        observer: {
          added: (key) => told.push(`added ${key}`),
          started: (key, waited) => told.push(`started ${key} after ${waited}`),
          finished: (key, worked) => told.push(`finished ${key} after ${worked}`),
        },
      });
      shop.queue.add('p/a');
      shop.queue.add('p/b');
      shop.queue.add('p/b'); // the key is already waiting
      await shop.clock.advance(100);
      expect(shop.queue.longestRunning()).toBe(100);
      expect([...shop.queue.inProgress()]).toEqual([['p/a', 100]]);
      shop.queue.add('p/a'); // the key is worked again afterwards
      shop.queue.add('p/a'); // the key is already marked to be worked again
      await shop.finish('p/a');
      expect(told).toEqual([
        'added p/a',
        'started p/a after 0',
        'added p/b',
        'added p/a',
        'finished p/a after 100',
        'started p/b after 100',
      ]);
    });
  });

  // A model of the queue: the starts that each key is owed, without the order within a priority. The queue
  // must start due keys while there is a free worker and a free slot, a change before a resync, and nothing
  // else.
  const KEYS = ['p/1', 'p/2', 'p/3', 'q/1', 'q/2', 'r/1'];
  const WORKERS = 3;
  const PER_PARTITION = 2;
  const SLOW_AFTER = 20;
  const HANGING_AFTER = 60;

  interface Owed {
    due: number | undefined;
    priority: Priority;
    working: boolean;
    startedAt: number;
    dirty: Priority | undefined;
  }

  const key = fc.constantFrom(...KEYS);
  const priority = fc.constantFrom<Priority>('change', 'resync');
  const command = fc.oneof(
    { weight: 8, arbitrary: fc.record({ type: fc.constant('add' as const), key, priority }) },
    {
      weight: 8,
      arbitrary: fc.record({
        type: fc.constant('addAfter' as const),
        key,
        priority,
        delay: fc.integer({ min: 1, max: 50 }),
      }),
    },
    { weight: 8, arbitrary: fc.record({ type: fc.constant('finish' as const), index: fc.nat(WORKERS) }) },
    {
      weight: 8,
      arbitrary: fc.record({ type: fc.constant('advance' as const), by: fc.integer({ min: 1, max: 30 }) }),
    },
    {
      weight: 1,
      arbitrary: fc.record({ type: fc.constant('set the clock' as const), by: fc.integer() }),
    },
    { weight: 1, arbitrary: fc.constant({ type: 'stop' as const }) },
  );
  type Command = typeof command extends fc.Arbitrary<infer T> ? T : never;

  const strongest = (one: Priority | undefined, other: Priority): Priority =>
    one === 'change' ? 'change' : other;

  /** Command sequences that once failed, in a minimal form. */
  const examples: [Command[]][] = [
    // Keys that were due at the same moment were started one by one, the resync first.
    [
      [
        { type: 'addAfter', key: 'p/1', priority: 'resync', delay: 1 },
        { type: 'addAfter', key: 'q/1', priority: 'change', delay: 1 },
        { type: 'advance', by: 1 },
      ],
    ],
    // A background check took the place of a change that waited for its time.
    [
      [
        { type: 'add', key: 'p/1', priority: 'change' },
        { type: 'add', key: 'p/2', priority: 'change' },
        { type: 'add', key: 'q/1', priority: 'change' },
        { type: 'add', key: 'q/2', priority: 'resync' },
        { type: 'addAfter', key: 'p/3', priority: 'change', delay: 9 },
        { type: 'add', key: 'p/3', priority: 'resync' },
        { type: 'finish', index: 0 },
      ],
    ],
    // The clock was set back, and delayed keys never became due.
    [
      [
        { type: 'addAfter', key: 'p/1', priority: 'change', delay: 1 },
        { type: 'set the clock', by: -3_600_000 },
        { type: 'advance', by: 1 },
      ],
    ],
  ];

  test('the queue behaves like the model in any order of commands', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(command, { maxLength: 60 }), async (commands) => {
        const shop = new Workshop({
          workers: WORKERS,
          perPartition: PER_PARTITION,
          slowAfter: SLOW_AFTER,
          hangingAfter: HANGING_AFTER,
        });
        const { clock, queue } = shop;
        const model = new Map<string, Owed>(
          KEYS.map((each) => [
            each,
            { due: undefined, priority: 'resync', working: false, startedAt: 0, dirty: undefined },
          ]),
        );
        const owed = (each: string) => model.get(each)!;
        const active = (partition: string) =>
          [...model].filter(([each, { working }]) => working && each.startsWith(partition)).length;
        const busy = () =>
          [...model.values()].filter(
            ({ startedAt, working }) => working && clock.monotonic() - startedAt < SLOW_AFTER,
          ).length;
        const hanging = new Set<string>();
        const partitionOf = (each: string) => each.split('/')[0]!;
        /** Returns the keys that are due and that a worker could start. */
        const open = () =>
          [...model].filter(
            ([each, { due, working }]) =>
              !working &&
              due !== undefined &&
              due <= clock.monotonic() &&
              busy() < WORKERS &&
              active(partitionOf(each)) < (hanging.has(partitionOf(each)) ? 1 : PER_PARTITION),
          );
        const stopped = jest.fn();
        let stopping = false;
        let read = 0;

        const agree = () => {
          for (const each of shop.started.slice(read)) {
            expect(stopping).toBe(false);
            const choice = open();
            expect(choice.map(([candidate]) => candidate)).toContain(each);
            const best = choice.some(([, state]) => state.priority === 'change') ? 'change' : 'resync';
            expect(`${each} by ${owed(each).priority}`).toBe(`${each} by ${best}`);
            Object.assign(owed(each), { due: undefined, working: true, startedAt: clock.monotonic() });
          }
          read = shop.started.length;
          if (!stopping) expect(open()).toEqual([]);
          expect(stopped).toHaveBeenCalledTimes(stopping && shop.running.size === 0 ? 1 : 0);
        };

        const owe = (each: string, delay: number, requested: Priority) => {
          const state = owed(each);
          const due = clock.monotonic() + delay;
          if (state.working && delay === 0) {
            state.dirty = strongest(state.dirty, requested);
          } else if (
            delay === 0 ||
            state.working ||
            state.due === undefined ||
            state.due > clock.monotonic()
          ) {
            // A key that is already due is no longer delayed, and keeps its priority.
            state.priority = state.due === undefined ? requested : strongest(state.priority, requested);
            state.due = Math.min(state.due ?? Infinity, due);
          }
        };

        for (const each of commands) {
          switch (each.type) {
            case 'add':
              if (!stopping) owe(each.key, 0, each.priority);
              queue.add(each.key, each.priority);
              break;
            case 'addAfter':
              if (!stopping) owe(each.key, each.delay, each.priority);
              queue.addAfter(each.key, each.delay, each.priority);
              break;
            case 'finish': {
              const ending = [...shop.running.keys()][each.index];
              if (ending === undefined) break;
              const { dirty, startedAt } = owed(ending);
              if (clock.monotonic() - startedAt >= HANGING_AFTER) hanging.add(partitionOf(ending));
              else hanging.delete(partitionOf(ending));
              Object.assign(owed(ending), { working: false, dirty: undefined });
              if (dirty) owe(ending, 0, dirty);
              await shop.finish(ending);
              break;
            }
            case 'set the clock':
              clock.set(each.by);
              break;
            case 'stop':
              if (stopping) break;
              stopping = true;
              void queue.stop().then(stopped);
              await settle();
              expect(clock.pendingTimers).toBe(0);
              break;
            case 'advance':
              for (let millisecond = 0; millisecond < each.by; millisecond++) {
                await clock.advance(1);
                agree();
              }
          }
          agree();
          queue.checkInvariants();
        }
        expect(queue.active).toBe(shop.running.size);
      }),
      { numRuns: 100, examples },
    );
  });
});

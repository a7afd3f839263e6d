import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { systemClock } from '../../../../operator/base/clock';
import { MachineBusy, runTwice } from '../../../../operator/base/bounded-task';
import { Stopping } from '../../../../operator/base/errors';
import { BoundedTexts } from '../../../../operator/process/texts/bounded-texts';
import { NoTextProcess } from '../../../../operator/process/texts/text-process';
import { bundled } from '../../../../operator/text-program';
import { silentLog } from '../../../cluster/silent-log';
import { until } from '../../until';
import { broken, burn, deep, echo, fill, inPlace, sleep, spin, values } from './tasks';

const LIMIT = 300;
const program = bundled(join(__dirname, 'serve-tasks.ts'));
const open: BoundedTexts[] = [];

function boundedTexts(options: Partial<ConstructorParameters<typeof BoundedTexts>[0]> = {}) {
  const texts = new BoundedTexts({
    clock: systemClock,
    log: silentLog,
    limit: LIMIT,
    program: () => program,
    ...options,
  });
  open.push(texts);
  return texts;
}

afterEach(() => {
  for (const texts of open.splice(0)) texts.close();
});

/** Returns the ids of the child processes of this one. */
const children = (): string[] =>
  readFileSync(`/proc/self/task/${process.pid}/children`, 'utf8').split(' ').filter(Boolean);

describe('BoundedTexts', () => {
  test('a task runs in another process, with maps and undefined values', async () => {
    const given = { map: new Map([['a', [1, null]]]), absent: undefined };
    expect(await boundedTexts().run(echo, given, 'a')).toEqual({ type: 'done', output: given });
  });

  test('a cheap task runs immediately, without a process', async () => {
    const texts = boundedTexts({ program: () => Promise.reject(new Error('started')) });
    expect(await texts.run(inPlace, 'short', 'a')).toEqual({ type: 'done', output: 'in place' });
    await expect(texts.run(inPlace, 'long', 'a')).rejects.toThrow('started');
  });

  test('a text that takes too long is aborted twice, then refused without an attempt, and others are read nevertheless', async () => {
    const texts = boundedTexts();
    const ended = { type: 'ended', exceeded: 'time', part: 'spec.configuration' };
    expect(await texts.run(spin, 'spec.configuration', 'a')).toEqual({ ...ended, isFinal: false });
    expect(await texts.run(echo, 'other', 'b')).toEqual({ type: 'done', output: 'other' });
    let again = await texts.run(spin, 'spec.configuration', 'a');
    // An attempt that a busy machine gave too little processor time does not count.
    while (again.type === 'ended' && !again.isFinal) again = await texts.run(spin, 'spec.configuration', 'a');
    expect(again).toEqual({ ...ended, isFinal: true });
    texts.close();
    expect(await texts.run(spin, 'spec.configuration', 'a')).toEqual({ ...ended, isFinal: true });
    await expect(texts.run(spin, 'spec.files[a.yaml]', 'a')).rejects.toThrow(Stopping);
  });

  test('a process that gets no processor time is no reason to refuse a text, however often', async () => {
    const texts = boundedTexts({ limit: 100 });
    const ended = await texts.run(sleep, 'spec.configuration', 'a');
    expect(ended).toMatchObject({ exceeded: 'time', isFinal: false });
    await expect(runTwice(texts, sleep, 'spec.configuration', 'a')).rejects.toThrow(MachineBusy);
  });

  test.each(['objects', 'numbers', 'map'])(
    'a text that fills the memory with %s ends only its own process',
    async (way) => {
      const texts = boundedTexts({ limit: 60_000 });
      expect(await texts.run(fill, way, 'a')).toEqual({
        type: 'ended',
        exceeded: 'memory',
        part: `spec.${way}`,
        isFinal: false,
      });
      expect(await texts.run(echo, 'other', 'b')).toEqual({ type: 'done', output: 'other' });
    },
  );

  test('the second try has twice the time', async () => {
    const texts = boundedTexts({ limit: 500 });
    expect(await texts.run(burn, 700, 'a')).toMatchObject({ type: 'ended', isFinal: false });
    expect(await texts.run(burn, 700, 'a')).toEqual({ type: 'done', output: 'burnt' });
  });

  test('a stack overflow ends the process', async () => {
    expect(await boundedTexts().run(deep, null, 'a')).toMatchObject({ type: 'ended', exceeded: 'memory' });
  });

  test('a result with more values than the operator has room for is refused in the process that makes it', async () => {
    const texts = boundedTexts();
    expect(await texts.run(values, 99_000, 'a')).toMatchObject({ type: 'done' });
    expect(await texts.run(values, 100_000, 'a')).toEqual({
      type: 'ended',
      exceeded: 'size of the result',
      part: '',
      isFinal: true,
    });
  });

  test('a bug in a task is an error that does not quote the text', async () => {
    const text = 'swordfish';
    const error = await boundedTexts().run(broken, text, 'a').catch(String);
    expect(error).toBe('Error: bug in a task on a foreign text: TypeError');
  });

  test('one text is read once, also while it waits, and a small result is cached', async () => {
    const texts = boundedTexts();
    const [first, second] = await Promise.all([texts.run(echo, ['x'], 'a'), texts.run(echo, ['x'], 'a')]);
    expect(second).toBe(first);
    texts.close();
    expect(await texts.run(echo, ['x'], 'a')).toEqual(first);
  });

  test('hubs take turns, and one whose text was aborted comes after all others until it has another text', async () => {
    const texts = boundedTexts();
    const order: string[] = [];
    const run = (name: string, work: Promise<unknown>) => work.then(() => order.push(name));
    await texts.run(spin, 'slow', 'hostile');
    await Promise.all([
      run('a1', texts.run(echo, 'a1', 'a')), // begins immediately
      run('a2', texts.run(echo, 'a2', 'a')),
      run('slow', texts.run(spin, 'slow', 'hostile')),
      run('a3', texts.run(echo, 'a3', 'a')),
      run('b1', texts.run(echo, 'b1', 'b')),
      run('other', texts.run(echo, 'other', 'hostile')),
    ]);
    expect(order).toEqual(['a1', 'b1', 'other', 'a2', 'a3', 'slow']);
  });

  test('namespaces take turns: one with many hubs does not delay another one', async () => {
    const texts = boundedTexts();
    const order: string[] = [];
    const run = (turn: string, text: string) => texts.run(echo, text, turn).then(() => order.push(text));
    await run('home/villa', 'before');
    const hubs = ['a', 'b', 'c', 'd'].map((hub) => run(`other/${hub}`, hub));
    await Promise.all([...hubs, run('home/villa', 'changed')]);
    expect(order).toEqual(['before', 'a', 'changed', 'b', 'c', 'd']);
  });

  test('a waiting text that is given up is not read, and another wait for the same text continues', async () => {
    const texts = boundedTexts({ limit: 60_000 });
    const running = texts.run(spin, 'x', 'a').catch(String);
    const abort = new AbortController();
    const givenUp = texts.run(echo, 'same', 'b', abort.signal).then(() => 'read', String);
    const same = texts.run(echo, 'same', 'c').then(() => 'read', String);
    abort.abort('given up');
    expect(await givenUp).toBe('given up');
    texts.close();
    expect(await same).toBe('Stopping: no more texts are read: the program stops');
    await running;
  });

  test('the process ends when idle and with the operator, and knows none of its settings', async () => {
    process.env['SWORDFISH'] = 'secret';
    let rest: (() => void) | undefined;
    const clock = {
      ...systemClock,
      after: (delay: number, callback: () => void) => {
        if (delay !== 10_000) return systemClock.after(delay, callback);
        rest = callback;
        return () => (rest = undefined);
      },
    };
    const before = new Set(children());
    const started = () => children().filter((pid) => !before.has(pid));
    const texts = boundedTexts({ clock });
    await texts.run(echo, 1, 'a');
    const [pid] = started();
    expect(readFileSync(`/proc/${pid}/environ`, 'utf8')).not.toContain('SWORDFISH');
    rest!();
    await until(() => started().length === 0);
    await texts.run(echo, 2, 'a');
    expect(started()).toHaveLength(1);
    const spinning = texts.run(spin, 'x', 'a').catch((error: unknown) => error);
    texts.close();
    expect(await spinning).toBeInstanceOf(Stopping);
    await until(() => started().length === 0);
  });

  test('a process that cannot be started is not a fault of the text', async () => {
    const texts = boundedTexts({ program: () => 'process.exit(3)' });
    await expect(texts.run(echo, 1, 'a')).rejects.toThrow(NoTextProcess);
    await expect(texts.run(echo, 1, 'a')).rejects.toThrow(
      'cannot start the process that reads texts: it ended with 3',
    );
  });
});

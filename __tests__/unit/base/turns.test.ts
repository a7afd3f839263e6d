import { largeTexts, Turns } from '../../../operator/base/turns';
import { until } from '../until';

test('while one kind of work keeps the process busy, other work gets half of the time', async () => {
  let now = 0;
  const rests: { readonly duration: number; readonly end: () => void }[] = [];
  const sleep = (duration: number) => new Promise<void>((end) => rests.push({ duration, end }));
  const turns = new Turns({ monotonic: () => now, sleep }, 100);
  const done: string[] = [];
  const work = (name: string, duration: number) =>
    turns.add(() => {
      done.push(name);
      now += duration;
    }, 1);
  for (const name of ['a', 'b', 'c']) work(name, 10);
  work('d', 300);
  work('e', 1);
  await until(() => rests.length === 1);
  expect([done.join(''), rests[0]!.duration]).toEqual(['ab', 20]);
  rests[0]!.end();
  await until(() => rests.length === 2);
  expect([done.join(''), rests[1]!.duration]).toEqual(['abcd', 310]);
  rests[1]!.end();
  await until(() => done.length === 5);
});

const SIZE = 100_000;

test('a large text waits while there is room for its memory, and a single one of any size; a small one never', async () => {
  const turns = new Turns({ monotonic: () => 0, sleep: () => Promise.resolve() }, 2 * SIZE);
  expect([turns.mayWait(3 * SIZE), turns.mayWait(1_000)]).toEqual([true, false]);
  let ran = 0;
  const work = () => void ran++;
  turns.add(work, 3 * SIZE); // this work has its turn and no longer waits
  turns.add(work, SIZE);
  expect([turns.mayWait(SIZE), turns.mayWait(SIZE + 1)]).toEqual([true, false]);
  await until(() => ran === 2);
  expect(turns.mayWait(3 * SIZE)).toBe(true);
});

test('work that follows in the same turn belongs to it', async () => {
  let now = 0;
  const rests: number[] = [];
  const turns = new Turns(
    { monotonic: () => now, sleep: (duration) => Promise.resolve(void rests.push(duration)) },
    10 * SIZE,
  );
  const parse = async (duration: number) => {
    await turns.take(SIZE);
    now += duration;
  };
  await Promise.all([parse(15), parse(50), parse(7)]);
  expect(rests).toEqual([65]);
});

test('work that finds no room is done immediately, and a pause follows for it too; its senders wait for the end of the pause', async () => {
  let now = 0;
  const rests: { readonly duration: number; readonly end: () => void }[] = [];
  const sleep = (duration: number) => new Promise<void>((end) => rests.push({ duration, end }));
  const turns = new Turns({ monotonic: () => now, sleep }, SIZE);
  await turns.rested(); // there is nothing to pause for
  const told: string[] = [];
  const parse = async (name: string) => {
    await turns.take(SIZE);
    told.push(name);
    now += 100;
    await turns.rested();
    told.push(`${name} rested`);
  };
  const all = [parse('a')];
  await until(() => rests.length === 1);
  all.push(...['b', 'c', 'd'].map(parse)); // b waits for its turn, c and d find no room
  await until(() => told.length === 3);
  expect(told).toEqual(['a', 'c', 'd']);
  rests[0]!.end();
  await until(() => rests.length === 2);
  expect(rests.map(({ duration }) => duration)).toEqual([100, 300]);
  expect(told.filter((what) => what.endsWith('rested'))).toEqual(['a rested', 'c rested', 'd rested']);
  rests[1]!.end();
  await Promise.all(all);
});

test('texts of other programs share one budget, of the size of the largest text', async () => {
  let ran = 0;
  for (let index = 0; index < 2; index++) largeTexts.add(() => void ran++, 12 * 2 ** 20);
  expect(largeTexts.mayWait(SIZE)).toBe(false); // one of the two waits
  await until(() => ran === 2);
  expect(largeTexts.mayWait(SIZE)).toBe(true);
});

import { Turns } from '../../../operator/base/turns';
import { until } from '../until';

test('of work that keeps the process busy, others have half of the time', async () => {
  let now = 0;
  const rests: { readonly duration: number; readonly end: () => void }[] = [];
  const sleep = (duration: number) => new Promise<void>((end) => rests.push({ duration, end }));
  const turns = new Turns({ monotonic: () => now, sleep });
  const done: string[] = [];
  const work = (name: string, duration: number) =>
    turns.add(() => {
      done.push(name);
      now += duration;
    });
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

import { Turns } from '../../../operator/base/turns';
import { ManualClock } from '../manual-clock';
import { until } from '../until';

test('of work that keeps the process busy, others have half of the time', async () => {
  const clock = new ManualClock();
  const turns = new Turns(clock);
  const done: string[] = [];
  const work = (name: string, duration: number) =>
    turns.add(() => {
      done.push(name);
      clock.freeze(duration);
    });
  for (const name of ['a', 'b', 'c']) work(name, 10);
  work('d', 300);
  work('e', 1);
  const isResting = () => clock.pendingTimers === 1;
  await until(isResting);
  await clock.advance(19);
  expect(done.join('')).toBe('ab');
  await clock.advance(1);
  await until(() => done.length === 4 && isResting());
  await clock.advance(309);
  expect(done.join('')).toBe('abcd');
  await clock.advance(1);
  await until(() => done.length === 5);
});

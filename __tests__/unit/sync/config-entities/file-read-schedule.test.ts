import { FileReadSchedule } from '../../../../operator/sync/config-entities/file-read-schedule';
import { ManualClock } from '../../manual-clock';

describe('FileReadSchedule', () => {
  test('background reads take at most a fifth of the time of the hub', async () => {
    const clock = new ManualClock();
    const schedule = new FileReadSchedule(clock);
    const read = schedule.time(() => clock.sleep(400));
    await clock.advance(400);
    await read;
    const times = Array.from({ length: 4 }, () => schedule.reserve());
    expect(times.map((at) => at - times[0]!)).toEqual([0, 1_600, 3_200, 4_800]);
  });

  test('time that has passed is not made up for', async () => {
    const clock = new ManualClock();
    const schedule = new FileReadSchedule(clock);
    schedule.reserve();
    await clock.advance(60_000);
    expect(schedule.reserve()).toBe(clock.monotonic());
  });
});

import { runWhileResponsive } from '../../../../operator/sync/objects/while-responsive';
import { ManualClock, settle } from '../../manual-clock';
import { hubClient } from '../../stand-in-hub/hub-client';

/** A hub that answers only its first `answers` requests. */
function hub(answers: number) {
  let asked = 0;
  const get = () => (asked++ < answers ? Promise.resolve({}) : Promise.reject(new Error('no answer')));
  return { client: hubClient({ rest: { get } }), asked: () => asked };
}

describe('runWhileResponsive', () => {
  test('waits for the work as long as the hub answers, and sends no requests afterwards', async () => {
    const clock = new ManualClock();
    const { client, asked } = hub(Infinity);
    let end!: () => void;
    const ended = jest.fn();
    void runWhileResponsive(client, clock, new Promise<void>((resolve) => (end = resolve))).then(ended);
    await clock.advance(10_000);
    expect(ended).not.toHaveBeenCalled();
    end();
    await settle();
    expect(ended).toHaveBeenCalled();
    const before = asked();
    await clock.advance(10_000);
    expect(asked()).toBe(before);
  });

  test('stops to wait when the hub does not answer', async () => {
    const clock = new ManualClock();
    const { client } = hub(2);
    const ended = jest.fn();
    void runWhileResponsive(client, clock, new Promise(() => undefined)).then(ended);
    await clock.advance(1_000);
    expect(ended).not.toHaveBeenCalled();
    await clock.advance(1_000);
    expect(ended).toHaveBeenCalled();
  });
});

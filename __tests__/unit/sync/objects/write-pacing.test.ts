import { MIN_WRITE_INTERVAL, RESYNC } from '../../../../operator/base/limits';
import { HubFailed, HubRejected } from '../../../../operator/client/connection/errors';
import { type Paced, WritePacing } from '../../../../operator/sync/objects/write-pacing';
import { ManualClock } from '../../manual-clock';

const RETRY = 600_000;

let clock: ManualClock;
let pacing: WritePacing;
let object: Paced;

beforeEach(() => {
  clock = new ManualClock();
  pacing = new WritePacing(clock, RETRY);
  object = {};
});

describe('WritePacing', () => {
  test('two writes of an object have a minimum interval', async () => {
    expect(pacing.pause(object, 'a')).toBe(0);
    pacing.mark(object);
    expect(pacing.pause(object, 'b')).toBe(MIN_WRITE_INTERVAL);
    await clock.advance(MIN_WRITE_INTERVAL);
    expect(pacing.pause(object, 'b')).toBe(0);
  });

  test('rejected content is not sent again for a while, other content immediately', async () => {
    const error = new HubRejected('400', 'no', 'write');
    pacing.record(object, 'a', error);
    expect(pacing.rejectionOf(object, 'a')).toBe(error);
    expect(pacing.rejectionOf(object, 'b')).toBeUndefined();
    await clock.advance(RETRY);
    expect(pacing.rejectionOf(object, 'a')).toBeUndefined();
  });

  test('the interval doubles while the hub fails with the same content', () => {
    pacing.mark(object);
    const intervals = [1, 2, 3].map(() => {
      pacing.record(object, 'a', new HubFailed('cannot read the file'));
      return pacing.pause(object, 'a');
    });
    expect(intervals).toEqual([2, 4, 8].map((factor) => factor * MIN_WRITE_INTERVAL));
    expect(pacing.pause(object, 'b')).toBe(MIN_WRITE_INTERVAL);
    for (let count = 0; count < 30; count += 1) pacing.record(object, 'a', new HubFailed('no'));
    expect(pacing.pause(object, 'a')).toBe(RESYNC / 2);
  });

  test('an error that is unrelated to the content is not recorded', () => {
    pacing.record(object, 'a', new Error('the connection was lost'));
    pacing.record(object, 'a', undefined);
    expect(object).toEqual({});
  });
});

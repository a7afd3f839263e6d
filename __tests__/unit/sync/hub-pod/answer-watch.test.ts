import { FINALIZER_SKIP } from '../../../../operator/base/limits';
import { HubUnreachable } from '../../../../operator/client/connection/errors';
import { AnswerWatch } from '../../../../operator/sync/hub-pod/answer-watch';
import { ManualClock, settle } from '../../manual-clock';

let clock: ManualClock;
let asked: number;
let answer: (isThere: boolean) => void;
let silent: (readonly string[])[];
let watch: AnswerWatch;

const client = {
  rest: {
    get: () => {
      asked++;
      return new Promise((resolve, reject) => {
        answer = (isThere) => (isThere ? resolve({}) : reject(new HubUnreachable('no answer within 5 s')));
      });
    },
  },
} as never;

beforeEach(() => {
  clock = new ManualClock();
  asked = 0;
  silent = [];
  watch = new AnswerWatch(clock, (uids) => silent.push(uids));
});

describe('AnswerWatch', () => {
  test('asks one question for all removals in progress, and for other callers', async () => {
    watch.begin('a', client);
    watch.begin('b', client);
    const answers = watch.answers(client);
    expect(asked).toBe(1);
    answer(false);
    expect(await answers).toBe(false);
    expect(silent).toEqual([['a', 'b']]);
  });

  test('skips later removals for 30 s after a hub has not answered, and asks nothing in that time', async () => {
    watch.begin('a', client);
    answer(false);
    await settle();
    expect(watch.isSkipped).toBe(true);
    watch.begin('b', client);
    expect(silent).toEqual([['a'], ['b']]);
    expect(await watch.answers(client)).toBe(false);
    expect(asked).toBe(1);
    await clock.advance(FINALIZER_SKIP);
    expect(watch.isSkipped).toBe(false);
    watch.begin('b', client);
    expect(asked).toBe(2);
  });

  test('skips nothing when the hub stops after the end of the last removal', async () => {
    watch.begin('a', client);
    watch.end('a');
    answer(false);
    await settle();
    expect(watch.isSkipped).toBe(false);
  });

  test('asks again as long as something is being removed', async () => {
    watch.begin('a', client);
    for (let question = 1; question <= 5; question++) {
      expect(asked).toBe(question);
      answer(true);
      await clock.advance(1_000);
    }
    watch.end('a');
    answer(true);
    await clock.advance(60_000);
    expect(asked).toBe(6);
  });
});

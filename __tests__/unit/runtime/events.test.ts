import { EventWriter } from '../../../operator/runtime/event-writer';
import { EventRecorder } from '../../../operator/runtime/events';
import { ApiError, ApiServerUnreachable } from '../../../operator/runtime/api-errors';
import { ManualClock, settle } from '../manual-clock';
import { conflict, FakeApiClient, notFound } from './fake-api-client';
import { widget } from './objects';
import { RecordingLog } from './recording-log';

interface EventBody {
  readonly metadata: { readonly name: string };
  readonly count: number;
  readonly message: string;
}

const event = (message: string) => ({ type: 'Warning', reason: 'HubUnreachable', message }) as const;

function setup(isBusy = () => false) {
  const clock = new ManualClock();
  const cluster = new FakeApiClient(clock);
  const log = new RecordingLog();
  const recorder = new EventRecorder(new EventWriter(cluster, clock, 'operator-0'), clock, log, isBusy);
  const record = async (message = 'gone', resource = widget()) => {
    recorder.record(resource, event(message));
    await recorder.drain();
  };
  const written = () => cluster.writes.map(({ method, body }) => `${method} ${(body as EventBody).count}`);
  return { clock, cluster, log, record, recorder, written };
}

describe('EventRecorder', () => {
  test('an event has the object, the message, the reporter and the time', async () => {
    const { cluster, record } = setup();
    await record();
    expect(cluster.writes).toHaveLength(1);
    expect(cluster.writes[0]).toMatchObject({
      method: 'POST',
      path: '/api/v1/namespaces/home/events',
      body: {
        involvedObject: {
          apiVersion: 'example.org/v1',
          kind: 'Widget',
          name: 'a',
          namespace: 'home',
          uid: 'uid-a',
        },
        type: 'Warning',
        reason: 'HubUnreachable',
        message: 'gone',
        reportingInstance: 'operator-0',
        firstTimestamp: '2026-01-01T00:00:00Z',
        count: 1,
      },
    });
  });

  test('while the operator is busy, events wait for 30 s at most; those of a deleted resource do not', async () => {
    let isBusy = true;
    const { clock, recorder, written } = setup(() => isBusy);
    recorder.record(widget(), event('first'));
    clock.set(-3_600_000); // the wall clock of the machine is set back
    await clock.advance(29_000);
    recorder.record(widget({ metadata: { uid: 'another' } }), event('second'));
    expect(written()).toHaveLength(0);
    await clock.advance(1_100);
    expect(written()).toHaveLength(1);
    recorder.record(widget({ metadata: { uid: 'deleted' } }), event('third'));
    await recorder.flush(widget({ metadata: { uid: 'deleted' } }));
    expect(written()).toHaveLength(2);
    isBusy = false;
    await clock.advance(100);
    expect(written()).toHaveLength(3);
    recorder.record(widget(), event('fourth'));
    await settle();
    expect(written()).toHaveLength(4);
    isBusy = true;
    recorder.record(widget(), event('fifth'));
    await Promise.all([recorder.drain(), clock.advance(100)]);
    expect(written()).toHaveLength(5);
  });

  test('repetitions increment the count of the first one', async () => {
    const { clock, cluster, record, written } = setup();
    for (let time = 0; time < 3; time++) {
      await record();
      await clock.advance(60_000);
    }
    expect(written()).toEqual(['POST 1', 'PATCH 2', 'PATCH 3']);
    expect(cluster.writes[2]?.body).toEqual({
      message: 'gone',
      count: 3,
      lastTimestamp: '2026-01-01T00:02:00Z',
    });
  });

  test('the text of an error is a sentence in an event', async () => {
    const { cluster, record } = setup();
    await record('the hub does not answer');
    expect(cluster.writes[0]?.body).toMatchObject({ message: 'The hub does not answer' });
  });

  test('another message, and another resource of the name, are another event', async () => {
    const { record, written } = setup();
    await record('gone');
    await record('still gone');
    await record('gone', widget({ metadata: { uid: 'another' } }));
    expect(written()).toEqual(['POST 1', 'POST 1', 'POST 1']);
  });

  test('events of one series are counted, with the message of the last one', async () => {
    const { cluster, recorder, written } = setup();
    for (const id of ['1', '2'])
      recorder.record(widget(), {
        type: 'Normal',
        reason: 'ReloadSuccessful',
        message: `Reloaded (ReloadID ${id}).`,
        series: 'reloaded',
      });
    await recorder.drain();
    expect(written()).toEqual(['POST 1', 'PATCH 2']);
    expect(cluster.writes[1]?.body).toMatchObject({ message: 'Reloaded (ReloadID 2).' });
  });

  test('Normal events without end leave the budget of Warnings alone', async () => {
    const { cluster, record, recorder } = setup();
    for (let reload = 0; reload < 100; reload++)
      recorder.record(widget(), {
        type: 'Normal',
        reason: 'ReloadSuccessful',
        message: `Reloaded ${reload}.`,
      });
    await record('gone');
    expect(cluster.writes.at(-1)?.body).toMatchObject({ type: 'Warning', message: 'gone' });
  });

  test('a new series begins when the last repetition is long ago, or when the server has dropped the event', async () => {
    const { clock, cluster, record, written } = setup();
    await record();
    await clock.advance(10 * 60_000 + 1);
    await record();
    cluster.handler = ({ method, body }) => {
      if (method === 'PATCH') throw notFound();
      return body;
    };
    await record();
    expect(written()).toEqual(['POST 1', 'POST 1', 'PATCH 2', 'POST 1']);
    const names = cluster.writes
      .filter(({ method }) => method === 'POST')
      .map(({ body }) => (body as EventBody).metadata.name);
    expect(new Set(names).size).toBeGreaterThanOrEqual(2);
  });

  test('the events of a resource are limited, those of others are not, and the budget refills with time', async () => {
    const { clock, log, record, written } = setup();
    for (let event = 0; event < 100; event++) await record(`problem ${event}`);
    expect(written()).toHaveLength(25);
    expect(log.at('info')).toHaveLength(100); // events beyond the limit are still logged
    await record('quiet', widget({ metadata: { uid: 'another' } }));
    expect(written()).toHaveLength(26);
    await clock.advance(60_000);
    for (let event = 0; event < 10; event++) await record(`more ${event}`);
    expect(written()).toHaveLength(27);
  });

  test('setting the clock back removes no limit', async () => {
    const { clock, record, written } = setup();
    for (let event = 0; event < 20; event++) await record(`problem ${event}`);
    clock.set(-3_600_000);
    for (let event = 0; event < 100; event++) await record(`more ${event}`);
    expect(written()).toHaveLength(25);
  });

  test('an event that cannot be written is only logged, and the next one is written', async () => {
    const { cluster, log, record, written } = setup();
    cluster.handler = () => {
      throw new ApiError(403, 'Forbidden', 'the namespace is being terminated');
    };
    await record();
    expect(log.at('warn')).toEqual(['failed to write event']);
    cluster.handler = ({ body }) => body;
    await record();
    expect(written()).toEqual(['POST 1', 'POST 1']);
  });

  describe('while the API server is unavailable', () => {
    const unavailable = () => {
      throw new ApiServerUnreachable('connection refused');
    };

    test('an event is retried, and those after it are written in order', async () => {
      const { clock, cluster, log, recorder } = setup();
      cluster.handler = unavailable;
      for (const message of ['one', 'two']) recorder.record(widget(), event(message));
      await clock.advance(50_000);
      expect(log.at('warn')).toEqual([]);
      const failed = cluster.writes.length;
      expect(failed).toBe(6);
      cluster.handler = ({ body }) => body;
      await clock.advance(10_000);
      const messages = cluster.writes.map(({ body }) => (body as EventBody).message);
      expect(messages.slice(failed)).toEqual(['one', 'two']);
      expect(clock.pendingTimers).toBe(0);
    });

    test('an event has the time at which it was recorded', async () => {
      const { clock, cluster, recorder } = setup();
      cluster.handler = unavailable;
      recorder.record(widget(), event('gone'));
      await clock.advance(15_000);
      cluster.handler = ({ body }) => body;
      await clock.advance(10_000);
      expect(cluster.writes.at(-1)?.body).toMatchObject({ firstTimestamp: '2026-01-01T00:00:00Z' });
    });

    test('an event that was stored without an answer is not written twice, and repetitions increment its count', async () => {
      const { clock, cluster, log, record, recorder } = setup();
      const stored = new Map<string, EventBody>();
      let answers = false;
      cluster.handler = ({ method, body }) => {
        const written = body as EventBody;
        if (method === 'PATCH') {
          const [name, present] = [...stored][0]!;
          stored.set(name, { ...present, ...written });
        } else if (stored.has(written.metadata.name)) throw new ApiError(409, 'AlreadyExists', 'it exists');
        else stored.set(written.metadata.name, written);
        return answers ? body : unavailable();
      };
      for (const count of [1, 2]) {
        answers = false;
        recorder.record(widget(), event('gone'));
        await clock.advance(5_000);
        answers = true;
        await clock.advance(5_000);
        expect([...stored.values()].map((each) => each.count)).toEqual([count]);
      }
      await record();
      expect([...stored.values()].map((each) => each.count)).toEqual([3]);
      expect(log.at('warn')).toEqual([]);
    });

    test('an event is given up after 12 attempts, and the next one is tried', async () => {
      const { clock, cluster, log, recorder } = setup();
      cluster.handler = unavailable;
      for (const message of ['one', 'two']) recorder.record(widget(), event(message));
      await clock.advance(110_000);
      const messages = cluster.writes.map(({ body }) => (body as EventBody).message);
      expect(messages.filter((message) => message === 'one')).toHaveLength(12);
      expect(messages.at(-1)).toBe('two');
      expect(log.at('warn')).toEqual(['failed to write event']);
    });

    test('a flush ends with the first failure, and the events are written later', async () => {
      const { clock, cluster, log, recorder } = setup();
      cluster.handler = unavailable;
      for (const message of ['one', 'two']) recorder.record(widget(), event(message));
      recorder.record(widget({ metadata: { uid: 'other' } }), event('three'));
      await settle();
      await recorder.flush(widget());
      expect(cluster.writes).toHaveLength(2);
      cluster.handler = ({ body }) => body;
      await clock.advance(10_000);
      const messages = cluster.writes.map(({ body }) => (body as EventBody).message);
      expect(messages.slice(2)).toEqual(['one', 'two', 'three']);
      expect(log.at('warn')).toEqual([]);
    });

    test('at the end of the process one failure suffices, and the log says how many events are lost', async () => {
      const { clock, cluster, log, recorder } = setup();
      cluster.handler = unavailable;
      for (const message of ['one', 'two', 'three']) recorder.record(widget(), event(message));
      await settle();
      await recorder.drain();
      expect(cluster.writes).toHaveLength(2);
      expect(log.lines.at(-1)).toMatchObject({
        level: 'warn',
        message: 'dropped events, API server is unavailable',
        fields: { events: 3 },
      });
      expect(clock.pendingTimers).toBe(0);
    });

    test('an event is written once the API server is no longer overloaded', async () => {
      const { clock, cluster, log, recorder } = setup();
      cluster.handler = () => {
        throw new ApiError(429, 'Too Many Requests', 'please try again later', 1_000);
      };
      for (const message of ['one', 'two']) recorder.record(widget(), event(message));
      await settle();
      expect(cluster.writes).toHaveLength(1);
      cluster.handler = ({ body }) => body;
      await clock.advance(10_000);
      expect(cluster.writes.map(({ body }) => (body as EventBody).message)).toEqual(['one', 'one', 'two']);
      expect(log.at('warn')).toEqual([]);
    });

    test('an event beyond a quota does not delay the others', async () => {
      const { cluster, log, recorder } = setup();
      cluster.handler = ({ body }) => {
        if ((body as EventBody).message === 'noisy')
          throw new ApiError(429, 'TooManyRequests', 'limit reached');
        return body;
      };
      for (const message of ['noisy', 'two']) recorder.record(widget(), event(message));
      await settle();
      expect((cluster.writes.at(-1)?.body as EventBody).message).toBe('two');
      expect(log.at('warn')).toEqual(['failed to write event']);
    });

    test('a conflict about a quota does not mean that the event was stored before', async () => {
      const { cluster, log, recorder } = setup();
      cluster.handler = () => {
        throw conflict();
      };
      recorder.record(widget(), event('one'));
      await settle();
      expect(log.at('warn')).toEqual(['failed to write event']);
    });

    test('flush includes the event of the resource that fails while it waits', async () => {
      const { clock, cluster, log, recorder } = setup();
      let fail!: () => void;
      cluster.handler = () =>
        new Promise((_, reject) => (fail = () => reject(new ApiServerUnreachable('connection reset'))));
      recorder.record(widget(), event('one'));
      const flushed = recorder.flush(widget());
      cluster.handler = ({ body }) => body;
      fail();
      await flushed;
      expect(cluster.writes).toHaveLength(2);
      expect(log.at('warn')).toEqual([]);
      await clock.advance(60_000);
      expect(cluster.writes).toHaveLength(2);
    });
  });

  test('names and messages of any length fit', async () => {
    const { cluster, record } = setup();
    await record('x'.repeat(5_000), widget({ metadata: { name: `${'a'.repeat(199)}-${'b'.repeat(50)}` } }));
    const { metadata, message } = cluster.writes[0]!.body as EventBody;
    expect(metadata.name).toMatch(/^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/);
    expect(metadata.name.length).toBeLessThanOrEqual(253);
    expect(message).toHaveLength(1_024);
  });

  test('old entries are forgotten, even behind a series that never ends', async () => {
    const { clock, record, written } = setup();
    await record('steady');
    await record('once');
    for (let minute = 0; minute < 20; minute++) {
      await clock.advance(60_000);
      await record('steady');
    }
    await record('once');
    expect(written().at(-1)).toBe('POST 1');
  });

  test('recording does not wait for the API server, and events are written in their order', async () => {
    const { cluster, recorder, written } = setup();
    let answer!: () => void;
    cluster.handler = ({ body }) => new Promise((resolve) => (answer = () => resolve(body)));
    recorder.record(widget(), event('one'));
    recorder.record(widget(), event('two'));
    expect(written()).toEqual(['POST 1']);
    answer();
    await settle();
    expect(cluster.writes.map(({ body }) => (body as EventBody).message)).toEqual(['one', 'two']);
  });

  test('flush waits only for the events of one resource, also for the one that is being written', async () => {
    const { cluster, recorder } = setup();
    const answers: (() => void)[] = [];
    cluster.handler = ({ body }) => new Promise((resolve) => answers.push(() => resolve(body)));
    const other = widget({ metadata: { uid: 'other' } });
    for (const message of ['one', 'two']) recorder.record(widget(), event(message));
    for (let more = 0; more < 10; more++) recorder.record(other, event(`more ${more}`));
    const flushed = jest.fn();
    void recorder.flush(widget()).then(flushed);
    answers.shift()!();
    await settle();
    expect(flushed).not.toHaveBeenCalled();
    while (!flushed.mock.calls.length) {
      answers.shift()!();
      await settle();
    }
    const messages = cluster.writes.map(({ body }) => (body as EventBody).message);
    expect(messages).toContain('two');
    expect(messages).not.toContain('more 9');
  });

  test('the queue of events is bounded while the API server gives no answer', async () => {
    const { cluster, log, recorder } = setup();
    let answer!: () => void;
    const answered = new Promise<void>((resolve) => (answer = resolve));
    cluster.handler = ({ body }) => answered.then(() => body);
    for (let resource = 0; resource < 5_500; resource++)
      recorder.record(widget({ metadata: { uid: `uid-${resource}` } }), event('gone'));
    expect(log.at('warn')).toContain('dropped event, queue of events is full');
    answer();
    await recorder.drain();
    expect(cluster.writes).toHaveLength(5_001);
  });
});

import type { Clock } from '../../../operator/base/clock';
import { LeaderElection, type LeaderOptions } from '../../../operator/runtime/leader';
import type { ApiRequest } from '../../../operator/runtime/api-client';
import { ApiServerUnreachable } from '../../../operator/runtime/api-errors';
import fc from '../../fast-check';
import { randomNumbers } from '../../seed';
import { ManualClock, settle } from '../manual-clock';
import { conflict, FakeApiClient, notFound } from './fake-api-client';
import { RecordingLog } from './recording-log';

const LEASE_DURATION = 15_000;
const RENEW_DEADLINE = 10_000;
/** The period with the longest jitter, which all tests use except those of the jitter. */
const RETRY_PERIOD = 2_400;

interface Lease {
  readonly metadata: { readonly name: string; readonly uid?: string; readonly resourceVersion?: string };
  readonly spec: {
    readonly holderIdentity: string;
    readonly acquireTime?: string;
    readonly renewTime?: string;
    readonly leaseTransitions: number;
    readonly leaseDurationSeconds: number;
  };
}

/** A lease that a former leader has released. */
const RELEASED: Lease = {
  metadata: { name: 'op' },
  spec: { holderIdentity: '', acquireTime: 'once', leaseTransitions: 0, leaseDurationSeconds: 1 },
};

/** The API server with one lease and its optimistic lock. */
class LeaseServer {
  lease: Lease | undefined;
  private version = 0;

  readonly events: string[] = [];

  serve({ method, body, path }: ApiRequest): unknown {
    if (path.endsWith('/events')) return this.events.push((body as { message: string }).message);
    const sent = body as Lease;
    if (method === 'GET') {
      if (!this.lease) throw notFound();
      return this.lease;
    }
    const { uid, resourceVersion } = this.lease?.metadata ?? {};
    const isOther = sent.metadata.uid !== uid || sent.metadata.resourceVersion !== resourceVersion;
    if (method === 'POST' ? this.lease : isOther) throw conflict();
    return this.write(sent);
  }

  /** Writes the lease without the optimistic lock, as another client. */
  write(lease: Lease): Lease {
    const resourceVersion = String(++this.version);
    const uid = this.lease?.metadata.uid ?? `uid-${resourceVersion}`;
    this.lease = { ...lease, metadata: { ...lease.metadata, uid, resourceVersion } };
    return this.lease;
  }
}

class Candidate {
  readonly log = new RecordingLog();
  readonly election: LeaderElection;
  leading = false;
  end: 'lost' | 'stopped' | undefined;
  /** Called when the election is won. */
  onWon = (): void => undefined;
  /** Replaced to answer requests differently, or not at all. */
  network: (request: ApiRequest) => Promise<void> = () => Promise.resolve();

  constructor(server: LeaseServer, clock: Clock, podName: string, options: Partial<LeaderOptions> = {}) {
    const cluster = new FakeApiClient(clock, async (request) => {
      await this.network(request);
      return server.serve(request);
    });
    const { log } = this;
    this.election = new LeaderElection({
      cluster,
      clock,
      log,
      namespace: 'ns',
      leaseName: 'op',
      podName,
      ...options,
    });
  }

  run(): void {
    void this.election.acquire().then(async (acquired) => {
      if (!acquired) return;
      this.leading = true;
      this.onWon();
      this.end = await this.election.renew();
      this.leading = false;
    });
  }

  get isLeader(): boolean {
    try {
      this.election.assertLeader();
      return true;
    } catch {
      return false;
    }
  }
}

/** The clock of another machine, which is ahead by `skew` and was started at another time. */
const skewed = (clock: ManualClock, skew: number): Clock => ({
  now: () => clock.now() + skew,
  monotonic: () => clock.monotonic() + 1e6,
  after: (delay, callback) => clock.after(delay, callback),
  sleep: (delay, signal) => clock.sleep(delay, signal),
});

/** Changes to the Lease by clients other than the candidates. */
const STRANGERS = {
  deletes: (server: LeaseServer) => void (server.lease = undefined),
  empties: (server: LeaseServer) => {
    const { lease } = server;
    if (lease) server.write({ ...lease, spec: { ...lease.spec, holderIdentity: '' } });
  },
  'puts back one that is released': (server: LeaseServer) => void server.write(RELEASED),
  'puts back one of a former holder': (server: LeaseServer) => {
    const spec = {
      holderIdentity: 'former',
      acquireTime: 'before',
      leaseTransitions: 0,
      leaseDurationSeconds: 15,
    };
    server.write({ ...RELEASED, spec });
  },
};
const strangers = Object.keys(STRANGERS) as (keyof typeof STRANGERS)[];

/** A process that can be frozen: its timers fire and its answers arrive when it continues. */
class Process {
  readonly candidate: Candidate;
  private goesOnAt = 0;

  constructor(
    private readonly clock: ManualClock,
    server: LeaseServer,
    name: string,
  ) {
    const after = (delay: number, callback: () => void) => {
      let cancel = clock.after(delay, () => {
        if (this.frozenFor > 0) cancel = clock.after(this.frozenFor, callback);
        else callback();
      });
      return () => cancel();
    };
    const sleep = async (delay: number, signal?: AbortSignal) => {
      const aborted = new AbortController();
      const over = new Promise<void>((resolve) => {
        const cancel = after(delay, resolve);
        const end = () => {
          cancel();
          resolve();
        };
        signal?.addEventListener('abort', end, { signal: aborted.signal });
      });
      await over;
      aborted.abort();
      signal?.throwIfAborted();
    };
    const own: Clock = { now: () => clock.now(), monotonic: () => clock.monotonic(), after, sleep };
    this.candidate = new Candidate(server, own, name);
    this.candidate.run();
  }

  freeze(milliseconds: number): void {
    this.goesOnAt = Math.max(this.goesOnAt, this.clock.monotonic() + milliseconds);
  }

  disconnect(milliseconds: number): void {
    this.candidate.network = () => this.clock.sleep(5_000).then(down); // the time limit of a request
    this.clock.after(milliseconds, () => (this.candidate.network = () => Promise.resolve()));
  }

  private get frozenFor(): number {
    return this.goesOnAt - this.clock.monotonic();
  }
}

const down = () => Promise.reject(new ApiServerUnreachable('ECONNREFUSED'));
const silence = () => new Promise<void>(() => undefined);

function setup(skew = 0) {
  const clock = new ManualClock();
  const server = new LeaseServer();
  server.write(RELEASED);
  const one = new Candidate(server, clock, 'one');
  const two = new Candidate(server, skewed(clock, skew), 'two');
  return { clock, server, one, two };
}

async function oneLeads(skew = 0) {
  const all = setup(skew);
  all.one.run();
  await settle();
  all.two.run();
  await settle();
  expect([all.one.leading, all.two.leading]).toEqual([true, false]);
  return all;
}

describe('LeaderElection', () => {
  beforeEach(() => void jest.spyOn(Math, 'random').mockReturnValue(1));
  afterEach(() => jest.restoreAllMocks());

  test('the first candidate acquires the lease and keeps it while it renews', async () => {
    const { clock, one, two, server } = await oneLeads();
    await clock.advance(10 * 60_000);
    expect([one.leading, two.leading]).toEqual([true, false]);
    expect(server.lease?.spec).toMatchObject({
      holderIdentity: one.election.identity,
      leaseTransitions: 1,
      leaseDurationSeconds: 15,
    });
  });

  test.each([3_600_000, -3_600_000])(
    'a candidate whose clock is wrong by %d ms does not take a lease that is being renewed',
    async (skew) => {
      const { clock, two } = await oneLeads(skew);
      await clock.advance(5 * 60_000);
      expect(two.leading).toBe(false);
    },
  );

  test.each([3_600_000, -3_600_000])(
    'changing the system clock by %d ms ends no leader and makes no second one',
    async (by) => {
      const { clock, one, two } = await oneLeads();
      clock.set(by);
      expect(one.isLeader).toBe(true);
      await clock.advance(5 * 60_000);
      expect([one.leading, two.leading]).toEqual([true, false]);
    },
  );

  test('setting the system clock back delays neither the loss of the lease nor its acquisition by another', async () => {
    const { clock, one, two } = await oneLeads();
    one.network = down;
    await clock.advance(RETRY_PERIOD);
    clock.set(-3_600_000);
    await clock.advance(RENEW_DEADLINE - RETRY_PERIOD);
    expect(one.end).toBe('lost');
    await clock.advance(LEASE_DURATION + RETRY_PERIOD - RENEW_DEADLINE);
    expect(two.leading).toBe(true);
  });

  test('after a kill another candidate leads within the lease duration and one retry', async () => {
    const { clock, one, two, server } = await oneLeads();
    one.network = silence; // the process is gone
    await clock.advance(LEASE_DURATION + RETRY_PERIOD);
    expect(two.leading).toBe(true);
    expect(server.lease?.spec).toMatchObject({
      holderIdentity: two.election.identity,
      leaseTransitions: 2,
    });
  });

  test('a graceful stop hands over at the next retry', async () => {
    const { clock, one, two } = await oneLeads();
    const released = one.election.release();
    await clock.advance(RETRY_PERIOD);
    await released;
    expect([one.end, one.isLeader, two.leading]).toEqual(['stopped', false, true]);
  });

  test('a renewal in flight at the stop does not acquire the lease again', async () => {
    const { clock, one, server } = await oneLeads();
    let answer!: () => void;
    one.network = ({ method }) =>
      method === 'PUT' ? new Promise<void>((resolve) => (answer = resolve)) : Promise.resolve();
    await clock.advance(RETRY_PERIOD);
    const released = one.election.release();
    one.network = () => Promise.resolve();
    answer();
    await released;
    expect(server.lease?.spec.holderIdentity).toBe('');
  });

  test('a lease that is being acquired at the stop is released', async () => {
    const { clock, one, server } = setup();
    let answer!: () => void;
    one.network = ({ method }) =>
      method === 'PUT' ? new Promise<void>((resolve) => (answer = resolve)) : Promise.resolve();
    one.run();
    await settle();
    const released = one.election.release();
    await settle();
    one.network = () => Promise.resolve();
    answer();
    await released;
    expect(server.lease?.spec.holderIdentity).toBe('');
    await clock.advance(60_000);
    expect(one.leading).toBe(false);
  });

  test.each([
    ['that refuses', down],
    ['that is silent', silence],
  ])('a leader before a server %s stops before another may begin', async (_, network) => {
    const { clock, one, two } = await oneLeads();
    await clock.advance(5_000);
    one.network = network;
    for (let time = 0; time < LEASE_DURATION + RETRY_PERIOD; time += 100) {
      await clock.advance(100);
      expect(one.isLeader && two.isLeader).toBe(false);
      expect(one.leading && two.leading).toBe(false);
    }
    expect([one.end, two.leading]).toEqual(['lost', true]);
  });

  test('a leader is lost at the renew deadline at the latest, counted from when its last renewal was sent', async () => {
    const { clock, one } = await oneLeads();
    one.network = ({ method }) => (method === 'PUT' ? clock.sleep(7_000) : Promise.resolve());
    await clock.advance(RETRY_PERIOD); // the renewal is sent
    await clock.advance(7_000); // the renewal is answered
    one.network = down;
    await clock.advance(RENEW_DEADLINE - 7_000 - 1);
    expect(one.isLeader).toBe(true);
    await clock.advance(1);
    expect([one.isLeader, one.end]).toEqual([false, 'lost']);
  });

  test('an outage shorter than the renew deadline has no effect', async () => {
    const { clock, one } = await oneLeads();
    one.network = down;
    await clock.advance(RENEW_DEADLINE - RETRY_PERIOD - 1);
    one.network = () => Promise.resolve();
    await clock.advance(60_000);
    expect(one.leading).toBe(true);
    expect(one.log.at('warn').length).toBeGreaterThan(0);
  });

  test('a process that was frozen may not write, even before a timer fires', async () => {
    const { clock, one } = await oneLeads();
    clock.freeze(60_000);
    expect(one.isLeader).toBe(false);
  });

  /**
   * Makes another client write the lease right before the candidate's next write. The result tells whether
   * that happened.
   */
  function annotateBeforeNextWrite(server: LeaseServer, candidate: Candidate): () => boolean {
    let isAnnotated = false;
    candidate.network = ({ method }) => {
      if (method === 'PUT' && !isAnnotated) {
        isAnnotated = true;
        server.write(server.lease!);
      }
      return Promise.resolve();
    };
    return () => isAnnotated;
  }

  test('the leader stays leader when another client annotates the lease', async () => {
    const { clock, one, server } = await oneLeads();
    const isAnnotated = annotateBeforeNextWrite(server, one);
    await clock.advance(60_000);
    expect([isAnnotated(), one.leading]).toEqual([true, true]);
  });

  test('a leader whose lease another process has taken stops at its next renewal', async () => {
    const { clock, one, server } = await oneLeads();
    server.write({ ...server.lease!, spec: { ...server.lease!.spec, holderIdentity: 'another' } });
    await clock.advance(RETRY_PERIOD);
    expect(one.end).toBe('lost');
  });

  test('of two candidates that request a free lease at the same time, one becomes the leader', async () => {
    const { clock, one, two } = setup();
    one.run();
    two.run();
    await clock.advance(RETRY_PERIOD);
    expect([one.leading, two.leading].filter(Boolean)).toHaveLength(1);
  });

  test('two processes with the same pod name may never both write', async () => {
    const { clock, one, server } = await oneLeads();
    const namesake = new Candidate(server, clock, 'one');
    namesake.run();
    for (let time = 0; time < 60_000; time += 100) {
      await clock.advance(100);
      expect([one.isLeader, namesake.isLeader]).toEqual([true, false]);
    }
  });

  test('a renewal costs one request', async () => {
    const { clock, one } = await oneLeads();
    const methods: string[] = [];
    one.network = ({ method }) => Promise.resolve(void methods.push(method));
    await clock.advance(3 * RETRY_PERIOD);
    expect(methods).toEqual(['PUT', 'PUT', 'PUT']);
  });

  test('the leader releases the lease although another client annotates it at the same time', async () => {
    const { one, server } = await oneLeads();
    const isAnnotated = annotateBeforeNextWrite(server, one);
    await one.election.release();
    expect([isAnnotated(), server.lease?.spec.holderIdentity]).toEqual([true, '']);
  });

  test.each(['GET', 'PUT'])(
    'the leader releases the lease although one %s gets no answer',
    async (method) => {
      const { one, server } = await oneLeads();
      const asked: string[] = [];
      one.network = (request) => {
        asked.push(request.method);
        return request.method === method && asked.indexOf(method) === asked.length - 1
          ? down()
          : Promise.resolve();
      };
      await one.election.release();
      expect(asked.filter((each) => each === method)).toHaveLength(2);
      expect(server.lease?.spec.holderIdentity).toBe('');
    },
  );

  test('an API server that does not answer delays the end by 8 s at most, which is less than the pod has left', async () => {
    const { clock, one } = await oneLeads();
    one.network = () => new Promise(() => undefined);
    const end = one.election.release().then(
      () => 'released',
      (error: Error) => error.message,
    );
    await clock.advance(8_000);
    expect(await end).toBe('deadline of 8 s exceeded');
  });

  test('the lease is free before the event about it is written', async () => {
    const { one, server } = await oneLeads();
    one.network = ({ path }) => (path.endsWith('/events') ? new Promise(() => undefined) : Promise.resolve());
    void one.election.release().catch(() => undefined);
    await settle();
    expect(server.lease?.spec.holderIdentity).toBe('');
  });

  test('a candidate logs the holder that it waits for, once per holder', async () => {
    const { clock, one, two } = await oneLeads();
    await clock.advance(60_000);
    const waits = two.log.lines.filter(({ message }) => message.startsWith('waiting for lease'));
    expect(waits.map(({ fields }) => fields)).toEqual([{ holder: one.election.identity }]);
  });

  test('becoming leader and releasing the lease are events on the Lease; a failed event has no effect', async () => {
    const { clock, one, server, two } = setup();
    two.network = ({ path }) => (path.endsWith('/events') ? down() : Promise.resolve());
    one.run();
    await settle();
    await one.election.release();
    const { identity } = one.election;
    expect(server.events).toEqual([`${identity} became leader`, `${identity} stopped leading`]);
    two.run();
    await clock.advance(RETRY_PERIOD);
    expect(two.leading).toBe(true);
  });

  test('retries have jitter: up to a fifth of the period', async () => {
    for (const [random, delay] of [
      [0, 2_000],
      [0.5, 2_200],
    ] as const) {
      jest.spyOn(Math, 'random').mockReturnValue(random);
      const { clock, one } = await oneLeads();
      let renewals = 0;
      one.network = () => Promise.resolve(void renewals++);
      await clock.advance(delay - 1);
      expect(renewals).toBe(0);
      await clock.advance(1);
      expect(renewals).toBe(1);
    }
  });

  test.each([
    [
      { leaseDuration: 10_000, renewDeadline: 10_000 },
      'leaseDuration 10000 must be greater than renewDeadline 10000',
    ],
    [{ renewDeadline: 2_400 }, 'renewDeadline 2400 must be greater than 1.2 times retryPeriod 2000'],
    [{ retryPeriod: 0 }, 'renewDeadline 10000 must be greater than 1.2 times retryPeriod 0'],
  ])('durations that do not fit each other are refused: %j', (durations, message) => {
    const build = () => new Candidate(new LeaseServer(), new ManualClock(), 'one', durations);
    expect(build).toThrow(new RangeError(message));
  });

  test('a candidate that is stopped before it leads never leads', async () => {
    const { clock, two } = await oneLeads();
    two.election.stop();
    await clock.advance(60_000);
    expect(two.leading).toBe(false);
    await two.election.release();
  });

  describe('a Lease that others change', () => {
    /** Advances the clock and checks that never two may write. Returns the leaders at the end. */
    async function watch(clock: ManualClock, all: readonly Candidate[], time: number): Promise<Candidate[]> {
      const leaders = () => all.filter(({ isLeader }) => isLeader);
      let most = 0;
      for (const each of all) each.onWon = () => (most = Math.max(most, leaders().length));
      for (let passed = 0; passed < time; passed += 1_000) {
        await clock.advance(1_000);
        most = Math.max(most, leaders().length);
        expect(most).toBeLessThan(2);
      }
      return leaders();
    }

    const who = fc.nat(2);
    const at = fc.nat(20_000);
    const lasts = fc.nat(20_000);
    const fault = fc.oneof(
      fc.record({ type: fc.constantFrom(...strangers), at }),
      fc.record({ type: fc.constantFrom('freeze' as const, 'disconnect' as const), at, who, lasts }),
      fc.record({ type: fc.constant('release' as const), at, who }),
    );

    test('leads to no second leader at any time, and there is a leader again', async () => {
      await fc.assert(
        fc.asyncProperty(
          fc.array(fault, { minLength: 1, maxLength: 4 }),
          fc.nat(),
          async (faults, jitter) => {
            jest.spyOn(Math, 'random').mockImplementation(randomNumbers(jitter));
            const clock = new ManualClock();
            const server = new LeaseServer();
            server.write(RELEASED);
            const processes = ['one', 'two', 'three'].map((name) => new Process(clock, server, name));
            const candidates = processes.map(({ candidate }) => candidate);
            await watch(clock, candidates, 3_000); // each has seen the leader
            for (const each of faults)
              clock.after(each.at, () => {
                if (each.type === 'freeze' || each.type === 'disconnect')
                  processes[each.who]![each.type](each.lasts);
                else if (each.type === 'release')
                  void candidates[each.who]!.election.release().catch(() => undefined);
                else STRANGERS[each.type](server);
              });
            await watch(clock, candidates, 60_000);
            const left = candidates.filter(({ end }) => end === undefined);
            const stopped = faults.flatMap((each) => (each.type === 'release' ? [each.who] : []));
            const mayLead = left.filter((each) => !stopped.includes(candidates.indexOf(each)));
            expect(await watch(clock, candidates, 30_000)).toHaveLength(Math.min(1, mayLead.length));
          },
        ),
        { numRuns: 200 },
      );
    });

    test('gives no lease to a process that starts in the meantime, while its leader reaches the API server', async () => {
      await fc.assert(
        fc.asyncProperty(
          fc.constantFrom(...strangers.slice(0, 2)),
          fc.nat(5_000),
          fc.nat(5_000),
          fc.nat(),
          async (stranger, changed, started, jitter) => {
            jest.spyOn(Math, 'random').mockImplementation(randomNumbers(jitter));
            const { clock, one, server, two } = setup();
            one.run();
            clock.after(changed, () => STRANGERS[stranger](server));
            clock.after(changed + started, () => two.run());
            expect(await watch(clock, [one, two], 20_000)).toEqual([one]);
          },
        ),
        { numRuns: 200 },
      );
    });

    test.each(strangers.slice(0, 3))('is written again by its leader when someone %s', async (stranger) => {
      const { clock, one, server, two } = await oneLeads();
      STRANGERS[stranger](server);
      await clock.advance(RETRY_PERIOD);
      expect(server.lease?.spec.holderIdentity).toBe(one.election.identity);
      expect(await watch(clock, [one, two], 60_000)).toEqual([one]);
    });

    test.each(strangers)(
      'counts as held for the lease duration when someone %s and the leader is killed',
      async (stranger) => {
        const { clock, one, server, two } = await oneLeads();
        one.network = silence;
        await clock.advance(1_000);
        STRANGERS[stranger](server);
        await clock.advance(LEASE_DURATION - 1_000 - 1);
        expect(two.leading).toBe(false);
        // A former holder that is restored may be the leader.
        await clock.advance(LEASE_DURATION + RETRY_PERIOD);
        expect(two.leading).toBe(true);
      },
    );

    test('is read again by a process that was frozen between its read and its decision', async () => {
      const { clock, one, server, two } = await oneLeads();
      one.network = silence;
      server.lease = undefined;
      await clock.advance(RETRY_PERIOD);
      let answer!: () => void;
      const late = new Promise((_, reject) => (answer = () => reject(notFound())));
      jest.spyOn(server, 'serve').mockImplementationOnce(() => late);
      await clock.advance(RETRY_PERIOD); // the request is sent
      clock.freeze(LEASE_DURATION);
      answer();
      await settle();
      expect(two.leading).toBe(false);
      await clock.advance(RETRY_PERIOD);
      expect(two.leading).toBe(true);
    });

    test('a holder that claims a shorter lease is given the full time nevertheless', async () => {
      const { clock, one, server, two } = await oneLeads();
      one.network = silence;
      server.write({
        ...server.lease!,
        spec: { ...server.lease!.spec, leaseDurationSeconds: 1, renewTime: 'now' },
      });
      await clock.advance(LEASE_DURATION - 1);
      expect(two.leading).toBe(false);
    });
  });

  test('in a new installation a process leads after two retry periods', async () => {
    const { clock, one, server } = setup();
    server.lease = undefined;
    one.run();
    await clock.advance(2 * RETRY_PERIOD - 1);
    expect(one.leading).toBe(false);
    await clock.advance(1);
    expect(one.leading).toBe(true);
    expect(server.lease).toMatchObject({ spec: { leaseTransitions: 0 } });
    const waits = one.log.lines.filter(({ message }) => message.startsWith('waiting for lease'));
    expect(waits.map(({ message }) => message)).toEqual([
      'waiting for lease without a holder, a leader may write it again',
    ]);
  });
});

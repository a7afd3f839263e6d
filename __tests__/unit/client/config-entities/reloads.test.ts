import {
  HubBanned,
  HubFailed,
  HubUnreachable,
  TokenRejected,
} from '../../../../operator/client/connection/errors';
import { BUG_MESSAGE } from '../../../../operator/base/errors';
import type { ReloadResult } from '../../../../operator/client/config-entities/reload-retry';
import { MAX_WAIT, QUIET_PERIOD, Reloads } from '../../../../operator/client/config-entities/reloads';
import type { Logger } from '../../../../operator/base/log';
import { silentLog } from '../../../cluster/silent-log';
import { ManualClock } from '../../manual-clock';
import fc from '../../../fast-check';

/** Makes a fake hub for reloads, and records the reloads. */
function stage({ loaded = (): boolean => true, failures = [] as unknown[], takesMs = 0 } = {}) {
  const clock = new ManualClock();
  const calls: { component: string; at: number }[] = [];
  const logged: object[] = [];
  const log: Logger = {
    ...silentLog,
    warn: (fields) => logged.push(fields),
    info: (fields) => logged.push(fields),
  };
  const writing = { now: false };
  const reloads = new Reloads({
    clock,
    log,
    isLoaded: async () => loaded(),
    isWriting: () => writing.now,
    reload: async (component) => {
      calls.push({ component, at: clock.monotonic() });
      if (takesMs > 0) await clock.sleep(takesMs);
      const failure = failures.shift();
      if (failure !== undefined) throw failure;
    },
  });
  return { clock, calls, logged, writing, reloads };
}

const failed = new HubFailed('Invalid config for automation');

describe('Reloads: one reload', () => {
  test('succeeds with its id and start', async () => {
    const { clock, calls, reloads } = stage();
    const begin = clock.monotonic();
    const result = reloads.request('automation');
    await clock.advance(QUIET_PERIOD);
    expect(await result).toEqual({ ok: true, reloadId: expect.any(String), startedAt: begin + QUIET_PERIOD });
    expect(calls).toEqual([{ component: 'automation', at: begin + QUIET_PERIOD }]);
  });

  test.each<[string, unknown[], number, Partial<ReloadResult>]>([
    ['one failure', [failed], 2, { ok: true }],
    ['two failures', [failed, new HubUnreachable('gone')], 3, { ok: true }],
    [
      'three failures',
      [failed, failed, failed],
      3,
      { ok: false, reason: 'ReloadFailed', message: 'Invalid config for automation' },
    ],
    [
      'a rejected token',
      [new TokenRejected('revoked')],
      1,
      { ok: false, message: 'the hub rejected the token (revoked)' },
    ],
    [
      'a ban',
      [new HubBanned()],
      1,
      { ok: false, message: 'the hub has banned the address of the operator (HTTP 403 on every path)' },
    ],
    [
      'an exception',
      [new TypeError('bug'), new TypeError('bug'), new TypeError('bug')],
      3,
      { ok: false, message: BUG_MESSAGE },
    ],
  ])('after %s', async (_what, failures, attempts, expected) => {
    const { clock, calls, logged, reloads } = stage({ failures });
    const result = reloads.request('scene');
    await clock.advance(60_000);
    expect(await result).toMatchObject(expected);
    expect(calls).toHaveLength(attempts);
    for (const [index, call] of calls.entries()) expect(call.at - (calls[0]?.at ?? 0)).toBe(index * 5_000);
    const ids = logged.map((fields) => (fields as { reloadId: string }).reloadId);
    expect(new Set(ids).size).toBe(attempts);
    expect(ids.at(-1)).toBe((await result).reloadId);
  });

  test('waits for a component that is being loaded', async () => {
    let asked = 0;
    const { clock, calls, reloads } = stage({ loaded: () => ++asked === 3 });
    const result = reloads.request('automation');
    await clock.advance(20_000);
    expect(await result).toMatchObject({ ok: true });
    expect(calls).toHaveLength(1);
  });

  test('is not made when the component is not loaded', async () => {
    const { clock, calls, reloads } = stage({ loaded: () => false });
    const result = reloads.request('automation');
    await clock.advance(20_000);
    expect(await result).toMatchObject({ ok: false, reason: 'ComponentNotLoaded' });
    expect(calls).toEqual([]);
  });
});

describe('Reloads: many reloads', () => {
  test('are one for a burst', async () => {
    const { clock, calls, reloads } = stage();
    const results = Array.from({ length: 50 }, () => reloads.request('automation'));
    await clock.advance(QUIET_PERIOD);
    expect(new Set((await Promise.all(results)).map((result) => result.reloadId)).size).toBe(1);
    expect(calls).toHaveLength(1);
  });

  test('are two when a request comes while one runs', async () => {
    const { clock, calls, reloads } = stage({ takesMs: 1_000 });
    const first = reloads.request('automation');
    await clock.advance(QUIET_PERIOD + 500);
    const [second, third] = [reloads.request('automation'), reloads.request('automation')];
    await clock.advance(5_000);
    expect(calls).toHaveLength(2);
    expect((await first).reloadId).not.toBe((await second).reloadId);
    expect(await third).toEqual(await second);
  });

  test('wait for writes, but with a limit', async () => {
    const { clock, calls, writing, reloads } = stage();
    const begin = clock.monotonic();
    writing.now = true;
    const result = reloads.request('automation');
    await clock.advance(MAX_WAIT - 1);
    expect(calls).toHaveLength(0);
    await clock.advance(1);
    expect(await result).toMatchObject({ ok: true, startedAt: begin + MAX_WAIT });
  });

  test('happen once after a burst whose writes have pauses, as long as more writes are announced', async () => {
    const { clock, calls, reloads } = stage();
    let left = 100;
    reloads.deferWhile(() => left > 0);
    const results: Promise<ReloadResult>[] = [];
    for (; left > 0; left--) {
      await clock.advance(left % 10 === 0 ? 900 : 1);
      results.push(reloads.request('automation'));
    }
    await clock.advance(QUIET_PERIOD);
    expect(calls).toHaveLength(1);
    expect(new Set((await Promise.all(results)).map(({ reloadId }) => reloadId)).size).toBe(1);
  });

  test('wait for announced writes that never come no longer than for others, each time', async () => {
    const { clock, calls, reloads } = stage();
    reloads.deferWhile(() => true);
    const begin = clock.monotonic();
    for (let request = 1; request <= 3; request++) {
      void reloads.request('automation');
      await clock.advance(MAX_WAIT);
      expect(calls.at(-1)?.at).toBe(begin + request * MAX_WAIT);
    }
  });

  test('of different components do not wait for each other', async () => {
    const { clock, calls, reloads } = stage({ takesMs: 60_000 });
    void reloads.request('automation');
    void reloads.request('scene');
    await clock.advance(QUIET_PERIOD);
    expect(calls.map((call) => call.component).sort()).toEqual(['automation', 'scene']);
  });

  test('end as failed on close, whether they are running or not', async () => {
    const { clock, reloads } = stage({ failures: [failed, failed, failed] });
    const inProgress = reloads.request('automation');
    await clock.advance(QUIET_PERIOD + 1);
    const waiting = [reloads.request('automation'), reloads.request('scene')];
    reloads.close();
    for (const result of [inProgress, ...waiting, reloads.request('automation')]) {
      expect(await result).toMatchObject({ ok: false, reason: 'ReloadFailed' });
    }
    expect(clock.pendingTimers).toBe(0);
  });

  test('become less frequent while writes continue, and are as fast as before afterwards', async () => {
    const { clock, calls, writing, reloads } = stage();
    const begin = clock.monotonic();
    const ask = async (seconds: number) => {
      for (let second = 0; second < seconds; second++) {
        void reloads.request('automation');
        await clock.advance(1_000);
      }
    };
    writing.now = true;
    await ask(140);
    const times = calls.map(({ at }) => Math.round((at - begin) / 1_000));
    expect(times).toHaveLength(4);
    expect(times.map((at, index) => at - (times[index - 1] ?? 0))).toEqual([10, 20, 40, 60]);
    writing.now = false;
    await clock.advance(1_000);
    writing.now = true;
    const after = clock.monotonic();
    await ask(11);
    expect(calls.at(-1)!.at - after).toBe(MAX_WAIT);
  });

  test('answer each request by a reload that starts after it, soon, and no more often than needed', async () => {
    const gaps = fc.array(fc.integer({ min: 0, max: 4_000 }), { minLength: 1, maxLength: 30 });
    await fc.assert(
      fc.asyncProperty(gaps, fc.integer({ min: 0, max: 3_000 }), async (pauses, takesMs) => {
        const { clock, calls, reloads } = stage({ takesMs });
        const requests: { at: number; result: Promise<ReloadResult> }[] = [];
        for (const pause of pauses) {
          await clock.advance(pause);
          requests.push({ at: clock.monotonic(), result: reloads.request('automation') });
        }
        await clock.advance(60_000);
        for (const { at, result } of requests) {
          const outcome = await result;
          if (!outcome.ok) throw new Error(outcome.message);
          expect(outcome.startedAt).toBeGreaterThanOrEqual(at);
          expect(outcome.startedAt - at).toBeLessThanOrEqual(MAX_WAIT + takesMs);
        }
        for (const [index, call] of calls.entries()) {
          expect(call.at).toBeGreaterThanOrEqual((calls[index - 1]?.at ?? -Infinity) + takesMs);
        }
        expect(calls.length).toBeLessThanOrEqual(requests.length);
        expect(clock.pendingTimers).toBe(0);
      }),
      { numRuns: 30 },
    );
  });
});

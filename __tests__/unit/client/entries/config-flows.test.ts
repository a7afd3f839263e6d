import { ConfigFlows } from '../../../../operator/client/entries/config-flows';
import { HubUnreachable } from '../../../../operator/client/connection/errors';
import type { CallOptions, RestClient } from '../../../../operator/client/connection/rest';
import { ManualClock } from '../../manual-clock';

const STEP = { type: 'create_entry', flow_id: 'f' };

/** A hub that answers a flow when the test says so, and other requests immediately unless it is dead. */
function aHub() {
  const clock = new ManualClock();
  const state = { isDead: false, checks: 0, timeout: 0 };
  let answer: (step: object) => void = () => undefined;
  const flow = (_: string, __: unknown, { signal, timeout = 0 }: CallOptions) =>
    new Promise((resolve, reject) => {
      answer = resolve;
      state.timeout = timeout;
      signal!.addEventListener('abort', () => reject(new HubUnreachable((signal!.reason as Error).message)));
    });
  const rest = {
    writeTimeout: 30_000,
    post: flow,
    get: (path: string, options: CallOptions) => {
      if (path !== '/manifest.json') return flow(path, undefined, options);
      state.checks++;
      return state.isDead ? Promise.reject(new HubUnreachable('connection refused')) : Promise.resolve({});
    },
  } as unknown as RestClient;
  return { clock, flows: new ConfigFlows(rest, clock), state, answer: () => answer(STEP) };
}

describe('ConfigFlows', () => {
  test.each<[string, (flows: ConfigFlows) => Promise<unknown>]>([
    ['start', (flows) => flows.start({ kind: 'config', domain: 'x' })],
    ['submit', (flows) => flows.submit('config', 'f', {})],
    ['read', (flows) => flows.read('config', 'f')],
  ])('%s waits for a hub that works for minutes', async (_, request) => {
    const { answer, clock, flows, state } = aHub();
    const requested = request(flows);
    await clock.advance(5 * 60_000);
    expect(state).toMatchObject({ checks: 10, timeout: 600_000 });
    answer();
    expect(await requested).toBe(STEP);
    await clock.advance(5 * 60_000);
    expect(state.checks).toBe(10);
  });

  test('a request to a hub that answers nothing else either is given up', async () => {
    const { clock, flows, state } = aHub();
    const requested = flows.submit('config', 'f', {});
    const failed = expect(requested).rejects.toThrow('connection refused');
    await clock.advance(60_000);
    state.isDead = true;
    await clock.advance(30_000);
    await failed;
  });
});

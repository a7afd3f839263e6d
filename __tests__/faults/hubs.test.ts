import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { API_GROUP } from '../../operator/kinds/group';
import { freshNamespace, until } from '../cluster';
import { automation, Home, hub } from '../cluster/home';
import { startTestOperator } from '../cluster/operator';

// One hub that hangs beside nine others, with the operator as it ships. The hubs are light stand-ins outside of the
// cluster: ten real ones do not fit on one machine.

const HUBS = Array.from({ length: 10 }, (_, index) => `hub-${index}`);
const [hanging = '', ...others] = HUBS;
/** More than the slots of a partition. */
const EDITED = Array.from({ length: 20 }, (_, index) => `${hanging}-${index}`);

const processes = new Map<string, ChildProcess>();
let home: Home;

/** A port on which nothing listens. */
async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as { port: number };
  server.close();
  await once(server, 'close');
  return port;
}

/** Starts a stand-in and applies a Hub for it. */
async function startHub(name: string): Promise<void> {
  const port = await freePort();
  const program = join(__dirname, '../../bench/stand-in.mjs');
  const env = { ...process.env, SETUP_PORT: String(port) };
  processes.set(name, spawn(process.execPath, [program], { env, stdio: 'ignore' }));
  const tokenSecretRef = { name: `${name}-token` };
  const labels = { [`${API_GROUP}/hub`]: name };
  await home.apply(
    {
      apiVersion: 'v1',
      kind: 'Secret',
      metadata: { name: tokenSecretRef.name, labels },
      stringData: { token: 'a token that a stand-in takes' },
    },
    { ...hub(name), spec: { external: { url: `http://127.0.0.1:${port}`, tokenSecretRef } } },
  );
}

/** Edits one automation of each of the nine; the milliseconds until the last one is Ready again. */
async function editOthers(description: string): Promise<number> {
  const started = Date.now();
  await Promise.all(others.map((name) => home.change('hubautomation', `${name}-0`, { description })));
  await Promise.all(others.map((name) => home.ready('hubautomation', `${name}-0`)));
  return Date.now() - started;
}

beforeAll(async () => {
  home = new Home(await freshNamespace('ten-hubs'));
  await startTestOperator(home.namespace, { settings: { ALLOW_LOCAL_HUBS: 'true' } });
  await Promise.all(HUBS.map(startHub));
  await home.apply(
    ...EDITED.map((name) => automation(hanging, name)),
    ...others.map((name) => automation(name, `${name}-0`)),
  );
  await Promise.all(
    [...EDITED, ...others.map((name) => `${name}-0`)].map((name) => home.ready('hubautomation', name)),
  );
});
afterAll(() => {
  for (const child of processes.values()) child.kill('SIGKILL');
});

describe('ten hubs', () => {
  test('a hub that hangs with 20 edited automations delays no edit of the nine others, and its Hub reports it', async () => {
    const usual = await editOthers('before');
    const { pid = 0 } = processes.get(hanging)!;
    process.kill(pid, 'SIGSTOP');
    try {
      await Promise.all(EDITED.map((name) => home.change('hubautomation', name, { description: 'hangs' })));
      expect(await editOthers('meanwhile')).toBeLessThan(2 * usual + 5_000);
      await until('the Hub reports that its hub does not answer', async () => {
        const ready = await home.condition('hub', hanging);
        return ready?.status === 'False' && ready.reason === 'HubUnreachable';
      });
    } finally {
      process.kill(pid, 'SIGCONT');
    }
    await Promise.all(EDITED.map((name) => home.ready('hubautomation', name)));
  });
});

import { join } from 'node:path';
import { API_GROUP } from '../../operator/kinds/group';
import { freePort } from '../../sandbox/ports';
import { SandboxProcess } from '../../sandbox/process';
import { sandboxDirectory, until } from '.';
import { type Home, hub } from './home';

/** Path of the program of a lightweight stand-in of a hub. */
export const STAND_IN = join(__dirname, '../../bench/stand-in.mjs');

/**
 * A lightweight stand-in of a hub, outside of the cluster. It suits tests with many hubs, which would not fit
 * on one machine, and tests of the operator's behaviour, never of the hub's. It ends with the test file, even
 * when jest is killed.
 */
export class StandInHub {
  private constructor(
    private readonly child: SandboxProcess,
    readonly url: string,
  ) {}

  /** @param settings environment variables of the stand-in */
  static async start(settings: Readonly<Record<string, string>> = {}): Promise<StandInHub> {
    const port = await freePort();
    const child = await SandboxProcess.start({
      name: `stand-in-${port}`,
      command: [process.execPath, STAND_IN],
      directory: join(sandboxDirectory(), 'stand-ins'),
      env: { ...settings, SETUP_PORT: String(port) },
    });
    const standIn = new StandInHub(child, `http://127.0.0.1:${port}`);
    running.add(standIn);
    await until('the stand-in answers', async () => (await fetch(`${standIn.url}/manifest.json`)).ok);
    return standIn;
  }

  /** Sends a signal. SIGSTOP freezes the stand-in, SIGCONT continues it. */
  signal(signal: NodeJS.Signals): void {
    process.kill(this.child.pid, signal);
  }

  async stop(): Promise<void> {
    await this.child.kill();
    running.delete(this);
  }
}

const running = new Set<StandInHub>();

afterAll(async () => {
  for (const standIn of running) await standIn.stop();
});

/** Applies an external Hub at `url`, with its token. */
export async function applyExternalHub(home: Home, name: string, url: string): Promise<void> {
  const tokenSecretRef = { name: `${name}-token` };
  const labels = { [`${API_GROUP}/hub`]: name };
  await home.apply(
    {
      apiVersion: 'v1',
      kind: 'Secret',
      metadata: { name: tokenSecretRef.name, labels },
      stringData: { token: 'a token that a stand-in takes' },
    },
    { ...hub(name), spec: { external: { url, tokenSecretRef } } },
  );
}

import { type ChildProcess, spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { freePort } from '../../sandbox/ports';
import { clusterAccess, kubeconfig } from '../cluster';

const RETRY_PAUSE = 500; // milliseconds

const forwards = new Map<string, Promise<PortForward>>();

afterAll(async () => {
  for (const forward of forwards.values()) (await forward).stop();
  forwards.clear();
});

/**
 * Forwards a port of this machine to a port in the cluster until the end of the test file. Returns the URL.
 * kubectl ends when the pod does, and is then started again with the same local port.
 */
export async function portForward(namespace: string, target: string, port: number): Promise<string> {
  const key = `${namespace} ${target} ${port}`;
  const forward =
    forwards.get(key) ?? freePort().then((local) => new PortForward(namespace, target, local, port));
  forwards.set(key, forward);
  return (await forward).url();
}

class PortForward {
  private child: ChildProcess | undefined;
  private stopped = false;
  private readonly first: Promise<void>;

  constructor(
    private readonly namespace: string,
    private readonly target: string,
    private readonly local: number,
    private readonly port: number,
  ) {
    this.first = new Promise((resolve) => void this.keepUp(resolve));
  }

  async url(): Promise<string> {
    await this.first;
    return `http://127.0.0.1:${this.local}`;
  }

  stop(): void {
    this.stopped = true;
    this.child?.kill();
  }

  private async keepUp(up: () => void): Promise<void> {
    const [program, ...first] = clusterAccess().kubectl;
    const where = [`--kubeconfig=${kubeconfig()}`, `--namespace=${this.namespace}`];
    while (!this.stopped) {
      const ports = `${this.local}:${this.port}`;
      const child = spawn(program, [...first, ...where, 'port-forward', this.target, ports], {
        stdio: ['ignore', 'pipe', 'ignore'],
      });
      this.child = child;
      createInterface({ input: child.stdout }).on('line', (line) => {
        if (line.startsWith('Forwarding from 127.0.0.1')) up();
      });
      await new Promise((resolve) => child.once('close', resolve));
      await sleep(RETRY_PAUSE);
    }
  }
}

import { readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';

// Below the range from which systems take the ports of outgoing connections: such a connection could otherwise sit on a
// hub's port while the hub restarts.
const FIRST = 20_000;
const COUNT = 10_000;

/**
 * Which port of this machine a pod listens on. It goes by the pod's name, so that a URL still works when a StatefulSet
 * makes its pod anew, and is remembered in a file, so that it still works after the sandbox was restarted.
 */
export class Ports {
  private readonly byPod: Record<string, number>;

  constructor(private readonly file: string) {
    this.byPod = read(file);
  }

  /** The port the pod had, when nobody has taken it; else a free one. The pod's old process must have ended. */
  async assign(namespace: string, name: string): Promise<number> {
    const key = `${namespace}/${name}`;
    // Noted before it is tried, so that two pods that start at once do not try the same one.
    this.byPod[key] ??= anyPort();
    while (this.isAnothers(this.byPod[key], key) || !(await isFree(this.byPod[key])))
      this.byPod[key] = anyPort();
    writeFileSync(this.file, JSON.stringify(this.byPod, undefined, 2));
    return this.byPod[key];
  }

  private isAnothers(port: number, key: string): boolean {
    return Object.entries(this.byPod).some(([other, taken]) => other !== key && taken === port);
  }
}

function anyPort(): number {
  return FIRST + Math.floor(Math.random() * COUNT);
}

function isFree(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    // On all addresses, because that is where a hub listens.
    const server = createServer();
    server.once('error', () => resolve(false));
    server.listen(port, () => server.close(() => resolve(true)));
  });
}

function read(file: string): Record<string, number> {
  try {
    return JSON.parse(readFileSync(file, 'utf8')) as Record<string, number>;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
    return {};
  }
}

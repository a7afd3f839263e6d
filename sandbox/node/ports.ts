import { readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';

// The range lies below the ephemeral ports: an outgoing connection could otherwise occupy a hub's port while
// the hub restarts.
const FIRST = 20_000;
const COUNT = 10_000;

/**
 * Assigns ports of this machine to pods. A port belongs to a pod's name, so that a URL stays valid when a StatefulSet
 * recreates its pod, and is stored in a file, so that it stays valid when the sandbox is restarted.
 */
export class Ports {
  private readonly byPod: Record<string, number>;

  constructor(private readonly file: string) {
    this.byPod = read(file);
  }

  /**
   * Returns the pod's previous port if it is free, otherwise another one. The pod's previous process must have ended.
   */
  async assign(namespace: string, name: string): Promise<number> {
    const key = `${namespace}/${name}`;
    // The port is recorded before it is tried, so that two pods that start at the same time do not try the
    // same port.
    this.byPod[key] ??= anyPort();
    while (this.isAssignedToOther(this.byPod[key], key) || !(await isFree(this.byPod[key])))
      this.byPod[key] = anyPort();
    writeFileSync(this.file, JSON.stringify(this.byPod, undefined, 2));
    return this.byPod[key];
  }

  private isAssignedToOther(port: number, key: string): boolean {
    return Object.entries(this.byPod).some(([other, taken]) => other !== key && taken === port);
  }
}

function anyPort(): number {
  return FIRST + Math.floor(Math.random() * COUNT);
}

function isFree(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    // The port must be free on all addresses, because a hub listens on all of them.
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

import { mkdirSync, readFileSync, rmdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

/** Folder of the memory controller of Linux cgroups, version 1. */
const CONTROLLER = '/sys/fs/cgroup/memory';

/** In milliseconds. */
const POLL = 20;

/** Limits the memory of processes as a container does. The kernel kills a process that needs more. */
export class MemoryLimit {
  private constructor(private readonly folder: string) {}

  /** @returns undefined when this machine has no such controller, or this process may not use it */
  static create(name: string, bytes: number): MemoryLimit | undefined {
    const folder = join(CONTROLLER, name);
    const limit = new MemoryLimit(folder);
    try {
      mkdirSync(folder);
    } catch {
      return undefined;
    }
    writeFileSync(join(folder, 'memory.limit_in_bytes'), String(bytes));
    return limit;
  }

  /** A program with its first arguments that starts another program under the limit. */
  get launcher(): readonly string[] {
    return ['/bin/sh', '-c', 'echo $$ > "$0" && exec "$@"', join(this.folder, 'cgroup.procs')];
  }

  /** Number of processes that the kernel has killed. */
  get kills(): number {
    return Number(/oom_kill (\d+)/.exec(readFileSync(join(this.folder, 'memory.oom_control'), 'utf8'))![1]);
  }

  /** Highest memory use of the processes so far, in bytes, including the kernel's buffers for them. */
  get peak(): number {
    return Number(readFileSync(join(this.folder, 'memory.max_usage_in_bytes'), 'utf8'));
  }

  /** Removes the limit as soon as the kernel has released the processes that have ended. */
  async remove(): Promise<void> {
    for (;;)
      try {
        return rmdirSync(this.folder);
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code !== 'EBUSY') throw error;
        await sleep(POLL);
      }
  }
}

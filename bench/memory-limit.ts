import { mkdirSync, readFileSync, rmdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

/** The memory controller of Linux, version 1. */
const CONTROLLER = '/sys/fs/cgroup/memory';

/** Milliseconds. */
const POLL = 20;

/** Limits the memory of processes as a container does: the kernel ends one that needs more. */
export class MemoryLimit {
  private constructor(private readonly folder: string) {}

  /** @returns undefined: this machine has no such controller, or this process may not use it */
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

  /** The program, with its first arguments, that starts another one under the limit. */
  get launcher(): readonly string[] {
    return ['/bin/sh', '-c', 'echo $$ > "$0" && exec "$@"', join(this.folder, 'cgroup.procs')];
  }

  /** Processes that the kernel has ended. */
  get kills(): number {
    return Number(/oom_kill (\d+)/.exec(readFileSync(join(this.folder, 'memory.oom_control'), 'utf8'))![1]);
  }

  /** The most memory that the processes had so far, in bytes, including the buffers of the kernel for them. */
  get peak(): number {
    return Number(readFileSync(join(this.folder, 'memory.max_usage_in_bytes'), 'utf8'));
  }

  /** Waits until the kernel has forgotten the processes that have ended. */
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

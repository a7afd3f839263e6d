/**
 * Runs tasks one at a time. Of several namespaces each has a turn after the other, however many tasks it has: one with fifty
 * repositories does not keep those of others waiting.
 */
export class FairQueue {
  /** Waiting tasks by namespace; the first namespace is next. */
  private readonly waiting = new Map<string, readonly (() => Promise<void>)[]>();
  private running = false;

  /** Settles as the task does, once it had its turn. */
  run<T>(namespace: string, task: () => Promise<T>): Promise<T> {
    return new Promise((resolve, reject) => {
      const next = () => task().then(resolve, reject);
      this.waiting.set(namespace, [...(this.waiting.get(namespace) ?? []), next]);
      if (!this.running) void this.runAll();
    });
  }

  private async runAll(): Promise<void> {
    this.running = true;
    for (let task = this.take(); task; task = this.take()) await task();
    this.running = false;
  }

  private take(): (() => Promise<void>) | undefined {
    const [next] = this.waiting;
    if (!next) return undefined;
    const [namespace, [task, ...others]] = next;
    this.waiting.delete(namespace);
    // Behind all other namespaces.
    if (others.length > 0) this.waiting.set(namespace, others);
    return task;
  }
}

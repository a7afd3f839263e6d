/**
 * Runs tasks one at a time. The namespaces take turns, regardless of their numbers of tasks: a namespace with
 * fifty repositories does not delay the repositories of others.
 */
export class FairQueue {
  /** Waiting tasks by namespace. The first namespace is next. */
  private readonly waiting = new Map<string, readonly (() => Promise<void>)[]>();
  private running = false;

  /** Settles with the result of the task. */
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
    // The namespace goes behind all others.
    if (others.length > 0) this.waiting.set(namespace, others);
    return task;
  }
}

/**
 * A queue of work by key. For one key at most one run is in progress, and one more follows when the key was
 * added during the run. The work must read the latest object itself.
 */
export class KeyedQueue {
  private readonly running = new Map<string, { isRequeued: boolean }>();

  constructor(private readonly failed: (error: unknown) => void) {}

  add(key: string, work: () => Promise<void>): void {
    const running = this.running.get(key);
    if (running) running.isRequeued = true;
    else void this.run(key, work).catch(this.failed);
  }

  private async run(key: string, work: () => Promise<void>): Promise<void> {
    const state = { isRequeued: true };
    this.running.set(key, state);
    try {
      while (state.isRequeued) {
        state.isRequeued = false;
        await work();
      }
    } finally {
      this.running.delete(key);
    }
  }
}

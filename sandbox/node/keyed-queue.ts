/**
 * Work that goes by a key: never twice at once for one key, and once more when it was asked for meanwhile, because what
 * it read at its beginning may be old by then. Its work must read the newest object itself.
 */
export class KeyedQueue {
  private readonly running = new Map<string, { again: boolean }>();

  constructor(private readonly failed: (error: unknown) => void) {}

  add(key: string, work: () => Promise<void>): void {
    const running = this.running.get(key);
    if (running) running.again = true;
    else void this.run(key, work).catch(this.failed);
  }

  private async run(key: string, work: () => Promise<void>): Promise<void> {
    const state = { again: true };
    this.running.set(key, state);
    try {
      while (state.again) {
        state.again = false;
        await work();
      }
    } finally {
      this.running.delete(key);
    }
  }
}

import { setMaxListeners } from 'node:events';

/**
 * An abort signal that follows others until it is unlinked. `AbortSignal.any` would do, but in Node 20 a source that
 * lives as long as the process keeps a trace of every signal that was ever made from it.
 */
export class LinkedSignal {
  private readonly controller = new AbortController();
  private readonly sources: readonly AbortSignal[];

  constructor(...sources: readonly (AbortSignal | undefined)[]) {
    this.sources = sources.filter((source) => source !== undefined);
    for (const source of this.sources) {
      setMaxListeners(0, source); // one right to write is followed by everything in work, which is no leak
      if (source.aborted) this.abort(source.reason);
      else source.addEventListener('abort', this.follow);
    }
  }

  get signal(): AbortSignal {
    return this.controller.signal;
  }

  abort(reason: unknown): void {
    this.controller.abort(reason);
  }

  /** Nothing is followed any more; the signal itself stays as it is. */
  unlink(): void {
    for (const source of this.sources) source.removeEventListener('abort', this.follow);
  }

  private readonly follow = ({ target }: Event): void => this.abort((target as AbortSignal).reason);
}

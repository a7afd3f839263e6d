import { setMaxListeners } from 'node:events';

/**
 * An abort signal that follows others until it is disposed of. `AbortSignal.any` is not used: in Node 20 a long-lived
 * source keeps a reference to every signal made from it.
 */
export class CombinedSignal {
  private readonly controller = new AbortController();
  private readonly sources: readonly AbortSignal[];

  constructor(...sources: readonly (AbortSignal | undefined)[]) {
    this.sources = sources.filter((source) => source !== undefined);
    for (const source of this.sources) {
      setMaxListeners(0, source); // all concurrent work follows the leader's signal: a warning about a leak would be wrong
      if (source.aborted) this.abort(source.reason);
      else source.addEventListener('abort', this.follow);
    }
  }

  get signal(): AbortSignal {
    return this.controller.signal;
  }

  /** Aborts this signal alone, not its sources. */
  abort(reason: unknown): void {
    this.controller.abort(reason);
  }

  /** Stops following the sources; the signal keeps its state. */
  dispose(): void {
    for (const source of this.sources) source.removeEventListener('abort', this.follow);
  }

  private readonly follow = ({ target }: Event): void => this.abort((target as AbortSignal).reason);
}

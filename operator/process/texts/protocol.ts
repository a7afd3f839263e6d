import type { Exceeded } from '../../base/bounded-task';

/** The messages between the operator and the process that reads foreign texts. */
export type FromChild =
  | { readonly type: 'ready' }
  | { readonly type: 'at'; readonly part: string }
  /** `size`: its characters and values. */
  | { readonly type: 'done'; readonly output: unknown; readonly size: number }
  | { readonly type: 'exceeded'; readonly exceeded: Exceeded }
  /** A bug: `name` is that of the error. Its message may quote the text. */
  | { readonly type: 'failed'; readonly name: string };

export interface ToChild {
  /** `v8.serialize` of the name of the task and its input. */
  readonly work: Uint8Array;
  /** Milliseconds after which the process gives up by itself, for the case that the operator has gone. */
  readonly giveUp: number;
}

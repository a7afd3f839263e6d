import type { Exceeded } from '../../base/bounded-task';

/** The messages from the process that reads foreign texts to the operator. */
export type FromChild =
  | { readonly type: 'ready' }
  | { readonly type: 'at'; readonly part: string }
  /** `size` is the sum of the characters and values of the output. */
  | { readonly type: 'done'; readonly output: unknown; readonly size: number }
  | { readonly type: 'exceeded'; readonly exceeded: Exceeded }
  /** A bug. `name` is the name of the error, whose message may quote the text and is not sent. */
  | { readonly type: 'failed'; readonly name: string };

export interface ToChild {
  /** `v8.serialize` of the name of the task and its input. */
  readonly work: Uint8Array;
  /** Milliseconds after which the process exits on its own, in case the operator has ended. */
  readonly giveUp: number;
}

import { OperationalError } from './errors';

/** A function of foreign text that is carried out within bounds of time and memory (rules.md, "Foreign texts"). */
export interface BoundedTask<Input, Output> {
  /** Unique: the process that carries tasks out finds the function by it. */
  readonly name: string;
  /**
   * A pure function. Input and output are data that the structured clone knows.
   *
   * @param at is called with the part of the input that is read next, such as `spec.configuration`
   */
  readonly run: (input: Input, at: (part: string) => void) => Output;
  /** The output if it costs little; undefined: unknown. Must be cheap for every input. */
  readonly inPlace?: (input: Input) => Output | undefined;
}

/** What a text was ended for. */
export type Exceeded = 'time' | 'memory' | 'size of the result';

export type Bounded<Output> =
  | { readonly type: 'done'; readonly output: Output }
  | {
      readonly type: 'ended';
      readonly exceeded: Exceeded;
      /** The part of the input that was being read; empty: none. */
      readonly part: string;
      /** False: a busy machine may be the cause, and the next call tries it once more. */
      readonly isFinal: boolean;
    };

export interface BoundedTasks {
  /**
   * @param turn `<namespace>/<hub>`, or another source of texts: sources take turns
   * @param signal gives the text up if its turn has not come
   * @throws Stopping
   * @throws OperationalError no process can be started
   */
  run<Input, Output>(
    task: BoundedTask<Input, Output>,
    input: Input,
    turn: string,
    signal?: AbortSignal,
  ): Promise<Bounded<Output>>;
}

/** Neither of two tries got enough processor time: this says nothing about the text. */
export class MachineBusy extends OperationalError {
  override readonly name = 'MachineBusy';
}

/**
 * The output that is cheap, or that of the second try at the latest.
 *
 * @throws MachineBusy
 */
export async function runTwice<Input, Output>(
  tasks: BoundedTasks,
  task: BoundedTask<Input, Output>,
  input: Input,
  turn: string,
): Promise<Bounded<Output>> {
  const first = await tasks.run(task, input, turn);
  if (first.type === 'done' || first.isFinal) return first;
  const second = await tasks.run(task, input, turn);
  if (second.type === 'ended' && !second.isFinal)
    throw new MachineBusy('a text is not read: the machine has no processor time for it');
  return second;
}

/** Carries tasks out at once and without bounds: for texts that this program has written itself. */
export const unbounded: BoundedTasks = {
  run: (task, input) => Promise.resolve({ type: 'done', output: task.run(input, () => undefined) }),
};

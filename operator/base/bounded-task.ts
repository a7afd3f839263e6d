import { OperationalError } from './errors';

/**
 * A function that reads text of another program within limits of time and memory (rules.md, "Foreign texts").
 */
export interface BoundedTask<Input, Output> {
  /** Unique name: the process that runs tasks finds the function by it. */
  readonly name: string;
  /**
   * A pure function. The structured clone algorithm must be able to copy its input and output.
   *
   * @param at is called with the name of the part that is read next, such as `spec.configuration`
   */
  readonly run: (input: Input, at: (part: string) => void) => Output;
  /**
   * Computes the output without a process if that is cheap; undefined otherwise. This function itself must be
   * cheap for every input.
   */
  readonly inPlace?: (input: Input) => Output | undefined;
}

/** The limit that a text exceeded. */
export type Exceeded = 'time' | 'memory' | 'size of the result';

export type Bounded<Output> =
  | { readonly type: 'done'; readonly output: Output }
  | {
      readonly type: 'ended';
      readonly exceeded: Exceeded;
      /** The part of the input that was being read; empty if none was. */
      readonly part: string;
      /** False if a busy machine may be the cause: the next call tries once more. */
      readonly isFinal: boolean;
    };

export interface BoundedTasks {
  /**
   * @param turn source of the text, such as `<namespace>/<hub>`: sources are served in turn
   * @param signal cancels a task that has not begun
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

/** Neither of two tries got enough processor time. The text itself may be fine. */
export class MachineBusy extends OperationalError {
  override readonly name = 'MachineBusy';
}

/**
 * Runs a task, and a second time if the first result is not final.
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

/**
 * Runs tasks immediately in this process and without limits: for texts that this program has written itself.
 */
export const unbounded: BoundedTasks = {
  run: (task, input) => Promise.resolve({ type: 'done', output: task.run(input, () => undefined) }),
};

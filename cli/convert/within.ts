import { type BoundedTask, type BoundedTasks, runTwice } from '../../operator/base/bounded-task';
import { CommandError } from '../command-error';

/** Runs a task and returns its output. @throws CommandError the task exceeds the limits of time or memory */
export async function within<Input, Output>(
  texts: BoundedTasks,
  task: BoundedTask<Input, Output>,
  input: Input,
  file: string,
): Promise<Output> {
  const read = await runTwice(texts, task, input, '');
  if (read.type === 'done') return read.output;
  throw new CommandError(
    `${read.part || file} takes more ${read.exceeded} to read than its length allows: write its anchors (&), aliases (*) and merges (<<) out, or leave it out`,
  );
}

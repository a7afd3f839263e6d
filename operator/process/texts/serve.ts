import { deserialize } from 'node:v8';
import { Script } from 'node:vm';
import type { BoundedTask } from '../../base/bounded-task';
import type { FromChild, ToChild } from './protocol';

/** The largest result. A larger one would exhaust the memory of the operator when it arrives. */
const LARGEST_RESULT = { values: 100_000, characters: 8 * 1_024 * 1_024 };

/** Name of the global function that {@link Script} calls: Node.js can limit the time of a script only. */
const RUN = 'hubOperatorTask';

/** The program of the process that reads foreign texts: runs one task after another. */
export function serveTasks(tasks: readonly BoundedTask<never, unknown>[], largest = LARGEST_RESULT): void {
  const script = new Script(`${RUN}()`);
  const send = (message: FromChild): void => void process.send!(message);
  process.on('message', ({ work, giveUp }: ToChild) => {
    const [name, input] = deserialize(work) as [string, never];
    const task = tasks.find((each) => each.name === name);
    try {
      if (!task) throw new Error(`cannot carry out ${name}: it is not in the list of tasks`);
      const run = () => task.run(input, (part) => send({ type: 'at', part }));
      Object.assign(globalThis, { [RUN]: run });
      const output: unknown = script.runInThisContext({ timeout: giveUp });
      const size = sizeOf(output, largest);
      send(
        size === undefined
          ? { type: 'exceeded', exceeded: 'size of the result' }
          : { type: 'done', output, size },
      );
    } catch (error) {
      // The stack is exhausted, or a string, an array or a map has reached its maximum size.
      if (error instanceof RangeError) send({ type: 'exceeded', exceeded: 'memory' });
      else send({ type: 'failed', name: (error as Error).name });
    }
  });
  process.on('disconnect', () => process.exit());
  process.on('SIGINT', () => undefined); // Ctrl-C is for the parent process
  send({ type: 'ready' });
}

/** The characters and values of a result. @returns undefined if the result is too large */
function sizeOf(output: unknown, largest: typeof LARGEST_RESULT): number | undefined {
  let characters = 0;
  let values = 0;
  const ahead = [output];
  while (ahead.length > 0) {
    const value = ahead.pop();
    values += 1;
    if (typeof value === 'string') characters += value.length;
    if (values > largest.values || characters > largest.characters) return undefined;
    if (value instanceof Map) for (const [key, each] of value) ahead.push(key, each);
    else if (Array.isArray(value)) for (const each of value) ahead.push(each);
    else if (typeof value === 'object' && value !== null)
      for (const [key, each] of Object.entries(value)) ahead.push(key, each);
  }
  return characters + values;
}

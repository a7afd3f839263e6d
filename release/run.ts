import { join } from 'node:path';
import { runCommand } from '../sandbox/command';

interface Where {
  readonly cwd?: string;
  readonly env?: Readonly<Record<string, string>>;
}

/**
 * Runs a command of a step to its end and returns its output.
 * @throws SandboxError with the last lines of the output
 */
export type Run = (
  step: string,
  command: readonly [program: string, ...args: string[]],
  where?: Where,
) => Promise<string>;

/** Returns a function that runs commands in the folder of the sources and writes their output to one log. */
export function runIn(source: string): Run {
  const logFile = join(source, 'build', 'release.log');
  return (step, command, where = {}) => runCommand({ step, command, cwd: source, logFile, ...where });
}

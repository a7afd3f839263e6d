import { join } from 'node:path';
import { runCommand } from '../sandbox/command';

interface Where {
  readonly cwd?: string;
  readonly env?: Readonly<Record<string, string>>;
}

/** Runs a command of a step to its end and returns its output. @throws SandboxError with its last lines */
export type Run = (
  step: string,
  command: readonly [program: string, ...args: string[]],
  where?: Where,
) => Promise<string>;

/** Commands of a release run in the folder of the sources and write one log. */
export function runIn(source: string): Run {
  const logFile = join(source, 'build', 'release.log');
  return (step, command, where = {}) => runCommand({ step, command, cwd: source, logFile, ...where });
}

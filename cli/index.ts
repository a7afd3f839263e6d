#!/usr/bin/env node
import { messageOf } from '../operator/base/errors';
import { EXIT_DELAY } from '../operator/base/limits';
import { processEnvironment } from './environment';
import { exitCodes } from './exit-codes';
import { type ProgramName, runProgram } from './program';

/** Runs a command in this process. @returns its exit code */
export function main(name: ProgramName, args: readonly string[]): Promise<number> {
  const interrupt = new AbortController();
  process.once('SIGINT', () => interrupt.abort(new Error('interrupted')));
  return runProgram(name, args, processEnvironment(interrupt.signal));
}

/** Connections and timers that are left do not keep the process. */
function endProcess(code: number): void {
  process.exitCode = code;
  setTimeout(() => process.exit(), EXIT_DELAY).unref();
}

if (require.main === module)
  main('kubectl hub', process.argv.slice(2)).then(endProcess, (error: unknown) => {
    process.stderr.write(`kubectl hub: a fault of the program, please report it: ${messageOf(error)}\n`);
    endProcess(exitCodes.failure);
  });

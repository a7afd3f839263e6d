#!/usr/bin/env node
import { callsOf, errorOf } from '../operator/base/errors';
import { EXIT_DELAY } from '../operator/base/limits';
import { processEnvironment } from './environment';
import { exitCodes } from './exit-codes';
import { type ProgramName, runProgram } from './program';

/** Most stack frames that are shown of a bug. */
const MOST_CALLS = 5;

/** Runs a command in this process. @returns its exit code */
export async function main(name: ProgramName, args: readonly string[]): Promise<number> {
  const interrupt = new AbortController();
  process.once('SIGINT', () => interrupt.abort(new Error('interrupted')));
  // If the reader of a pipe, such as head, has ended, that is not a bug, and further output is useless.
  for (const output of [process.stdout, process.stderr])
    output.on('error', () => interrupt.abort(new Error('the output is closed')));
  try {
    return await runProgram(name, args, processEnvironment(interrupt.signal));
  } catch (error) {
    process.stderr.write(`${name}: a fault of the program, please report it: ${faultText(error)}\n`);
    return exitCodes.failure;
  }
}

/** The name and place of a bug, without its message, which may quote a value that the program has read. */
function faultText(thrown: unknown): string {
  const fault = errorOf(thrown);
  return [fault.name, ...callsOf(fault).slice(0, MOST_CALLS)].join('\n');
}

/** Exits soon even if connections or timers are still open. */
function endProcess(code: number): void {
  process.exitCode = code;
  setTimeout(() => process.exit(), EXIT_DELAY).unref();
}

if (require.main === module) void main('kubectl hub', process.argv.slice(2)).then(endProcess);

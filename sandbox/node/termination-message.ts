/** Reads the termination message of a container. */
import { closeSync, openSync, readFileSync, readSync, statSync } from 'node:fs';
import type { V1Container } from '@kubernetes/client-node';

// The kubelet's limits: bytes of a message, bytes and lines of the end of a log.
const LONGEST_MESSAGE = 4096;
const LONGEST_LOG_TAIL = 2048;
const LOG_TAIL_LINES = 80;

export function logSize(file: string): number {
  return statSync(file, { throwIfNoEntry: false })?.size ?? 0;
}

/**
 * Returns the termination message: the file that the container wrote or, with `FallbackToLogsOnError` after a
 * failure, the end of this run's log. `logStart` is the size of the log in bytes when the run began.
 */
export function terminationMessage(
  container: V1Container,
  exitCode: number,
  files: { log: string; termination: string },
  logStart: number,
): string {
  const written = readFileSync(files.termination).subarray(0, LONGEST_MESSAGE).toString();
  if (written || exitCode === 0 || container.terminationMessagePolicy !== 'FallbackToLogsOnError')
    return written;
  const end = logSize(files.log);
  const tail = Buffer.alloc(Math.min(end - logStart, LONGEST_LOG_TAIL));
  const log = openSync(files.log, 'r');
  readSync(log, tail, 0, tail.length, end - tail.length);
  closeSync(log);
  return tail
    .toString()
    .split('\n')
    .slice(-LOG_TAIL_LINES - 1)
    .join('\n');
}

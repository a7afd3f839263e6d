import { SandboxError } from './sandbox-error';

const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

/**
 * Milliseconds in which further signals count as the same Ctrl-C. A program between the terminal and this
 * process, such as npm, may send the signal a second time.
 */
const ONE_INTERRUPT = 1_000;

/** The error of a command that Ctrl-C ended before it was done. */
export class Interrupted extends SandboxError {
  constructor() {
    super(
      'Interrupted before everything was Ready.',
      'All processes are stopped, and their data is removed.',
    );
  }
}

/**
 * Resolves at the first SIGINT (Ctrl-C), SIGTERM or SIGHUP (closed terminal). A further signal more than a
 * second later ends the process immediately. Before this function is called, the first signal ends the
 * process.
 */
export function untilInterrupted(): Promise<void> {
  return new Promise((resolve) => {
    const interrupted = () => {
      resolve();
      setTimeout(() => {
        for (const signal of signals) process.off(signal, interrupted);
      }, ONE_INTERRUPT).unref();
    };
    for (const signal of signals) process.on(signal, interrupted);
  });
}

/** @throws Interrupted as soon as `interrupted` resolves */
export async function rejectWhen(interrupted: Promise<void>): Promise<never> {
  await interrupted;
  throw new Interrupted();
}

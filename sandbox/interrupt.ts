import { SandboxError } from './sandbox-error';

const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

/** Milliseconds in which further signals are the same Ctrl-C: a program between the terminal and this process may pass it on as well. */
const ONE_INTERRUPT = 1_000;

/** Ctrl-C before the work was done. */
export class Interrupted extends SandboxError {
  constructor() {
    super(
      'Interrupted before everything was Ready.',
      'All processes are stopped, and their data is removed.',
    );
  }
}

/**
 * Resolves at the first SIGINT (Ctrl-C), SIGTERM or SIGHUP (closed terminal). One that comes more than a second later ends the
 * process at once. Until this was called, the first one does.
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

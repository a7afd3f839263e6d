const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

/**
 * Resolves at the first SIGINT (Ctrl-C), SIGTERM or SIGHUP (closed terminal). A second signal ends the process at once.
 */
export function untilInterrupted(): Promise<void> {
  return new Promise((resolve) => {
    const interrupted = () => {
      for (const signal of signals) process.off(signal, interrupted);
      resolve();
    };
    for (const signal of signals) process.on(signal, interrupted);
  });
}

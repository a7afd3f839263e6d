const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

/** Resolves at Ctrl-C, a SIGTERM or a closed terminal. The next one ends the process at once. */
export function untilInterrupted(): Promise<void> {
  return new Promise((resolve) => {
    const interrupted = () => {
      for (const signal of signals) process.off(signal, interrupted);
      resolve();
    };
    for (const signal of signals) process.on(signal, interrupted);
  });
}

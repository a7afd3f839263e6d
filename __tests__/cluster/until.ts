import { setTimeout as sleep } from 'node:timers/promises';

/**
 * Repeats `probe` until it returns a value other than undefined and false, and returns that value. A probe
 * that throws is repeated too. At the time limit, which only ends what never happens, the error contains the last
 * error or answer of the probe.
 */
export async function until<T>(
  description: string,
  probe: () => T | Promise<T>,
  timeoutMs = 600_000,
): Promise<Exclude<T, undefined | false>> {
  const began = Date.now();
  const deadline = began + timeoutMs;
  for (;;) {
    let why = 'the answer was no';
    try {
      const answer = await probe();
      if (answer !== undefined && answer !== false) return answer as Exclude<T, undefined | false>;
    } catch (error) {
      why = error instanceof Error ? error.message : String(error);
    }
    if (Date.now() > deadline) throw new Error(`not within ${timeoutMs / 1000} s: ${description} (${why})`);
    // The pause between two probes grows with time, to leave the processor to others.
    await sleep(Math.min(Math.max(50, (Date.now() - began) / 15), 500));
  }
}

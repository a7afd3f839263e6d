import { setTimeout as sleep } from 'node:timers/promises';

/**
 * Asks again and again until `probe` returns something other than undefined and false, and returns that. A probe that
 * throws is asked again too; when the time is over, its last error or answer tells why. By default that is after four minutes, or
 * HUB_UNTIL_TIMEOUT.
 */
export async function until<T>(
  description: string,
  probe: () => T | Promise<T>,
  timeoutMs = Number(process.env['HUB_UNTIL_TIMEOUT'] ?? 240_000),
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
    // What takes long is asked less often: others want the processor meanwhile.
    await sleep(Math.min(Math.max(50, (Date.now() - began) / 15), 500));
  }
}

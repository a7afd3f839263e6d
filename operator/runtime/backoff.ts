/** Exponential backoff with jitter: the delay of attempt n lies between half of and all of `first * 2^n`, at most `last`. */
export function backoffDelay(
  attempt: number,
  first: number,
  last: number,
  random: () => number = Math.random,
): number {
  const full = Math.min(last, first * 2 ** Math.min(attempt, 52));
  return full / 2 + (full / 2) * random();
}

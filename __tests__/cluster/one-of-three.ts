/**
 * For bounds of time: on a busy machine any step may take seconds more, so the time of the operator is measured up to
 * three times, and one good value is enough. Resolves with that.
 *
 * @throws Error none of the three values is good
 */
export async function oneOfThree<T>(
  measure: (attempt: number) => Promise<T>,
  isGood: (value: T) => boolean,
): Promise<T> {
  const values: T[] = [];
  for (let attempt = 1; attempt <= 3; attempt++) {
    const value = await measure(attempt);
    if (isGood(value)) return value;
    values.push(value);
  }
  throw new Error(`none of three attempts is good: ${values.map(String).join(', ')}`);
}

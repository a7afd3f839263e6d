/**
 * Measures a time limit up to three times, because any step may take seconds longer on a busy machine.
 * Resolves with the first value within the limit.
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

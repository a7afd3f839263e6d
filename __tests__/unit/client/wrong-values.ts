/** Values of all JSON types, including names of members that every JavaScript object has. */
const VALUES: readonly unknown[] = [
  null,
  -1.5,
  '__proto__',
  [],
  [['constructor']],
  {},
  { toString: 1, valueOf: 1, length: -1 },
];

/**
 * Yields the JSON value with itself or one of its parts left out or replaced by other values, one at a time.
 */
export function* withWrongParts(value: unknown): Generator<unknown> {
  yield* VALUES;
  if (Array.isArray(value)) {
    for (const [index, part] of value.entries())
      for (const wrong of withWrongParts(part)) yield value.with(index, wrong);
  } else if (typeof value === 'object' && value !== null) {
    const parts = Object.entries(value);
    for (const [key, part] of parts) {
      const others = parts.filter(([name]) => name !== key);
      yield Object.fromEntries(others);
      for (const wrong of withWrongParts(part)) yield Object.fromEntries([...others, [key, wrong]]);
    }
  }
}

/** Values that JSON can have, of which each is wrong somewhere: also names of members that every object has. */
const VALUES: readonly unknown[] = [
  null,
  -1.5,
  '__proto__',
  [],
  [['constructor']],
  {},
  { toString: 1, valueOf: 1, length: -1 },
];

/** The JSON value with each of its parts, and itself, left out or replaced by other values, one at a time. */
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

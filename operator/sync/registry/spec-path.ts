type Fields = Readonly<Record<string, unknown>>;

/** The value at a path in a spec, such as `number.min`. Undefined if it is absent. */
export function valueAt(spec: Fields, path: string): unknown {
  return path.split('.').reduce<unknown>((value, key) => (value as Fields | undefined)?.[key], spec);
}

/** A spec with these values at their paths, which have one or two names. */
export function specWith(values: readonly (readonly [path: string, value: unknown])[]): Fields {
  const spec: Record<string, unknown> = {};
  for (const [path, value] of values) {
    const [name, inner] = path.split('.') as [string, string?];
    spec[name] = inner === undefined ? value : { ...(spec[name] as object | undefined), [inner]: value };
  }
  return spec;
}

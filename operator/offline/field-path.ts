/** The steps from an object to one of its fields: `['spec', 'entities', 0, 'state']`. */
export type Path = readonly (string | number)[];

/**
 * The path of the field that a message of a rule begins with, as {@link fieldOf} writes it. The result is
 * `[]` if the message begins with no field.
 */
export function pathIn(message: string): Path {
  const [field = ''] = /^spec(\.[A-Za-z_][\w-]*|\[[^\]]+\])+/.exec(message) ?? [];
  return [...field.matchAll(/[A-Za-z_][\w-]*(?![^[]*\])|(?<=\[)[^\]]+/g)].map(([step]) => step);
}

/** Writes a path as text, such as `spec.files[a.yaml]` or `spec.entities[0].state`. */
export function fieldOf(path: Path): string {
  const step = (each: string | number) => (/^[A-Za-z_][\w-]*$/.test(String(each)) ? `.${each}` : `[${each}]`);
  return path.map(step).join('').replace(/^\./, '');
}

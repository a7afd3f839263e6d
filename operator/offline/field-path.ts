/** The steps from an object to one of its fields: `['spec', 'entities', 0, 'state']`. */
export type Path = readonly (string | number)[];

/** The field that a message of a rule begins with, as {@link fieldOf} writes it; `[]`: none. */
export function pathIn(message: string): Path {
  const [field = ''] = /^spec(\.[A-Za-z_][\w-]*|\[[^\]]+\])+/.exec(message) ?? [];
  return [...field.matchAll(/[A-Za-z_][\w-]*(?![^[]*\])|(?<=\[)[^\]]+/g)].map(([step]) => step);
}

/** `spec.files[a.yaml]`, `spec.entities[0].state` */
export function fieldOf(path: Path): string {
  const step = (each: string | number) => (/^[A-Za-z_][\w-]*$/.test(String(each)) ? `.${each}` : `[${each}]`);
  return path.map(step).join('').replace(/^\./, '');
}

import { kinds } from '../../operator/kinds';
import type { KindDefinition } from '../../operator/kinds/kind';
import type { Schema } from '../../operator/kinds/schema';

/** A place in a kind's schema, such as `spec.entities[].state` or `spec.files.*`. */
export interface Place {
  readonly kind: string;
  readonly path: string;
  readonly schema: Schema;
  readonly required: boolean;
}

export const places: readonly Place[] = kinds.flatMap((kind) => [
  ...placesOf(kind, 'spec', kind.spec),
  ...placesOf(kind, 'status', kind.status),
]);

function placesOf(kind: KindDefinition, path: string, schema: Schema, required = false): Place[] {
  const { items, properties = {}, additionalProperties } = schema;
  return [
    { kind: kind.kind, path, schema, required },
    ...(items ? placesOf(kind, `${path}[]`, items) : []),
    ...(additionalProperties ? placesOf(kind, `${path}.*`, additionalProperties) : []),
    ...Object.entries(properties).flatMap(([name, field]) =>
      placesOf(kind, `${path}.${name}`, field, schema.required?.includes(name)),
    ),
  ];
}

/** Changes of a sample: values by path; `undefined` removes the field. */
export type Change = Readonly<Record<string, unknown>>;

/**
 * Returns a copy of the sample with the changes, which are applied in order. In a path, `[]` is the first
 * item of the sample, and `.*` its first entry.
 */
export function changed<T extends object>(sample: T, change: Change): T {
  const copy = structuredClone(sample);
  for (const [path, value] of Object.entries(change)) {
    const steps = concrete(copy, path);
    const last = steps.pop()!;
    const parent = steps.reduce<Node>((node, step) => (node[step] ??= {}) as Node, copy as Node);
    if (value !== undefined) parent[last] = value;
    else if (Array.isArray(parent)) parent.splice(Number(last), 1);
    else delete parent[last];
  }
  return copy;
}

export function valueAt(sample: object, path: string): unknown {
  return concrete(sample, path).reduce<unknown>((node, step) => (node as Node | undefined)?.[step], sample);
}

/** Returns the path of a field as the API server writes it, in one of its two notations for keys of a map. */
export function fieldPath(sample: object, path: string): string {
  return plainPath(
    concrete(sample, path)
      .map((step) => (/^\d+$/.test(step) ? `[${step}]` : `.${step}`))
      .join(''),
  );
}

/** Normalizes a path: `spec.files[a.yaml]` becomes `spec.files.a.yaml`, and `.spec` becomes `spec`. */
export function plainPath(field: string): string {
  return field.replace(/\[/g, '.').replace(/\]/g, '').replace(/^\./, '');
}

type Node = Record<string, unknown>;

/**
 * Returns the steps of a path in this sample. Among several items or entries it takes the first that contains
 * most of the rest of the path.
 */
function concrete(sample: object, path: string): string[] {
  return route(sample, path.replaceAll('[', '.[').split('.')).steps;
}

function route(node: unknown, [part, ...rest]: readonly string[]): { steps: string[]; present: number } {
  if (part === undefined) return { steps: [], present: 0 };
  const entries = typeof node === 'object' && node !== null ? (node as Node) : {};
  const wildcard = part === '[]' || part === '*';
  const names = wildcard ? [...Object.keys(entries), '0'] : [part.replace(/[[\]]/g, '')];
  const routes = names.map((name) => {
    const { steps, present } = route(entries[name], rest);
    return { steps: [name, ...steps], present: name in entries ? present + 1 : 0 };
  });
  return routes.reduce((best, next) => (next.present > best.present ? next : best));
}

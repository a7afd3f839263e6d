import { kinds } from '../../../operator/kinds';
import type { Schema } from '../../../operator/kinds/schema';
import { fullSample } from '../../schema/full';
import { places, valueAt } from '../../schema/places';

/** Returns the paths of `value` that the schema does not have. */
function unknownFields(value: unknown, schema: Schema | undefined, path: string): string[] {
  if (!schema) return [path];
  if (schema['x-kubernetes-preserve-unknown-fields'] || typeof value !== 'object' || value === null)
    return [];
  if (Array.isArray(value)) return value.flatMap((item) => unknownFields(item, schema.items, `${path}[]`));
  return Object.entries(value).flatMap(([name, field]) =>
    unknownFields(field, schema.properties?.[name] ?? schema.additionalProperties, `${path}.${name}`),
  );
}

describe('fullSample', () => {
  test.each(kinds.map(({ kind }) => kind))('the sample of %s has every field of the schema', (kind) => {
    const absent = places
      .filter(
        (place) => place.kind === kind && valueAt(fullSample(kind, place.path), place.path) === undefined,
      )
      .map(({ path }) => path);
    expect(absent).toEqual([]);
  });

  test.each(kinds.map((definition) => [definition.kind, definition] as const))(
    'the sample of %s has no field that the schema lacks',
    (kind, { spec, status }) => {
      const sample = fullSample(kind) as unknown as { readonly spec: unknown; readonly status: unknown };
      const unknown = [
        ...unknownFields(sample.spec, spec, 'spec'),
        ...unknownFields(sample.status, status, 'status'),
      ];
      expect(unknown).toEqual([]);
    },
  );
});

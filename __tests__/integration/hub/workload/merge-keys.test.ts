import { mergeKeys } from '../../../../operator/sync/hub/workload/merge';
import { mustKubectl } from '../../../cluster';

interface Schema {
  readonly $ref?: string;
  readonly allOf?: readonly Schema[];
  readonly type?: string;
  readonly items?: Schema;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly 'x-kubernetes-list-type'?: string;
  readonly 'x-kubernetes-list-map-keys'?: readonly string[];
}

describe('merge keys of podTemplate', () => {
  test('the operator’s merge keys equal those of the API server', async () => {
    const openapi = await mustKubectl(['get', '--raw', '/openapi/v3/apis/apps/v1']);
    const { schemas } = (JSON.parse(openapi) as { components: { schemas: Record<string, Schema> } })
      .components;
    const found: Record<string, readonly string[]> = {};
    const walk = (schema: Schema, path: string, above: readonly string[]): void => {
      for (const reference of [schema, ...(schema.allOf ?? [])].flatMap(({ $ref }) => $ref ?? [])) {
        const name = reference.slice(reference.lastIndexOf('/') + 1);
        if (!above.includes(name)) walk(schemas[name]!, path, [...above, name]);
      }
      if (schema.items) walk(schema.items, path, above);
      for (const [field, each] of Object.entries(schema.properties ?? {})) {
        const below = path ? `${path}.${field}` : field;
        const keys = each['x-kubernetes-list-map-keys'];
        if (keys) found[below] = keys;
        walk(each, below, above);
      }
    };
    walk({ $ref: '#/io.k8s.api.core.v1.PodTemplateSpec' }, '', []);
    // Ephemeral containers are added to running pods; a pod template cannot have them.
    const ephemeral = Object.keys(found).filter((path) => path.startsWith('spec.ephemeralContainers'));
    expect(ephemeral.length).toBeGreaterThan(1);
    for (const path of ephemeral) delete found[path];
    expect(mergeKeys).toEqual(found);
  });
});

import type { Resource, ResourceMetadata } from '../../operator/kinds';
import { deepFreeze } from '../../operator/runtime/deep-freeze';

/** Returns a frozen resource as the API server sends it, in the namespace `home`. */
export function resource<Spec, Status = never>(
  name: string,
  spec: Spec,
  { status, ...metadata }: Partial<ResourceMetadata> & { readonly status?: Status } = {},
): Resource<Spec, Status> {
  return deepFreeze({
    apiVersion: 'example.org/v1',
    kind: 'Example',
    metadata: {
      name,
      namespace: 'home',
      uid: `uid-${name}`,
      resourceVersion: '1',
      generation: 1,
      creationTimestamp: '2026-01-01T00:00:00Z',
      ...metadata,
    },
    spec,
    ...(status !== undefined && { status }),
  });
}

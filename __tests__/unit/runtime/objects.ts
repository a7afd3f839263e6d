import type { ResourceType } from '../../../operator/runtime/objects';
import type { CustomResource, CommonStatus } from '../../../operator/kinds/resource';
import { deepFreeze } from '../../deep-freeze';

export const widgets: ResourceType = {
  group: 'example.org',
  version: 'v1',
  plural: 'widgets',
  kind: 'Widget',
};

export type Widget = CustomResource & {
  readonly spec: { readonly suspend?: boolean; readonly size?: number };
};

interface WidgetParts {
  readonly metadata?: Partial<CustomResource['metadata']>;
  readonly spec?: Widget['spec'];
  readonly status?: CommonStatus;
}

/** A resource as the API server would answer with it, frozen. */
export function widget({ metadata, spec = {}, status }: WidgetParts = {}): Widget {
  return deepFreeze({
    apiVersion: 'example.org/v1',
    kind: 'Widget',
    metadata: {
      name: 'a',
      namespace: 'home',
      uid: 'uid-a',
      resourceVersion: '1',
      generation: 1,
      creationTimestamp: '2026-01-01T00:00:00Z',
      ...metadata,
    },
    spec,
    ...(status && { status }),
  });
}

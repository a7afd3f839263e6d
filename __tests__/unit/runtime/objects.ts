import type { ResourceType } from '../../../operator/runtime/objects';
import type { CustomResource, ResourceStatus } from '../../../operator/runtime/resource';

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
  readonly status?: ResourceStatus;
}

/** A resource as the API server would answer with it. */
export function widget({ metadata, spec = {}, status }: WidgetParts = {}): Widget {
  return {
    apiVersion: 'example.org/v1',
    kind: 'Widget',
    metadata: {
      name: 'a',
      namespace: 'home',
      uid: 'uid-a',
      resourceVersion: '1',
      generation: 1,
      ...metadata,
    },
    spec,
    ...(status && { status }),
  };
}

import type { ResourceType } from '../../../operator/runtime/objects';
import type { CustomResource, CommonStatus } from '../../../operator/kinds/resource';
import { deepFreeze } from '../../../operator/runtime/deep-freeze';
import { objectMetadata } from '../object-metadata';

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

/** Returns a frozen resource as stored. Without a status it has the default of the API server. */
export function widget({
  metadata,
  spec = {},
  status = { observedGeneration: -1 },
}: WidgetParts = {}): Widget {
  return deepFreeze({
    apiVersion: 'example.org/v1',
    kind: 'Widget',
    metadata: {
      ...objectMetadata,
      name: 'a',
      uid: 'uid-a',
      ...metadata,
    },
    spec,
    status,
  });
}

import { kinds } from '../../../operator/kinds';
import { API_GROUP, GROUP_VERSION } from '../../../operator/kinds/group';
import type { KindDefinition } from '../../../operator/kinds/kind';
import type { CustomResource, ResourceMetadata } from '../../../operator/kinds/resource';
import type { AdmissionRequest } from '../../../operator/webhook/admission-review';
import type { ClusterState } from '../../../operator/webhook/cluster-state';
import type { ReadSecrets } from '../../../operator/sync/secrets-yaml/secrets-yaml';
import { resource } from '../resource';

/** Returns a resource of one of our kinds in the namespace `home`, of the Hub `villa`. */
export const ours = (
  kind: string,
  name: string,
  spec: object = {},
  metadata: Partial<ResourceMetadata> = {},
): CustomResource =>
  ({
    ...resource(name, { hubRef: { name: 'villa' }, ...spec }, metadata),
    apiVersion: GROUP_VERSION,
    kind,
  }) as CustomResource;

export const creation = (object: CustomResource): AdmissionRequest => ({
  uid: 'uid-of-request',
  kind: { group: API_GROUP, kind: object.kind },
  operation: 'CREATE',
  object,
  oldObject: null,
});

export const update = (oldObject: CustomResource, object: CustomResource): AdmissionRequest => ({
  ...creation(object),
  operation: 'UPDATE',
  oldObject,
});

/** A cluster with these resources, the oldest first. */
export class FakeClusterState implements ClusterState {
  secrets: ReadSecrets | undefined;

  constructor(private readonly resources: readonly CustomResource[] = []) {}

  othersWithIdentity(definition: KindDefinition, one: CustomResource): readonly CustomResource[] {
    const place = ({ kind, metadata }: CustomResource) => `${kind}/${metadata.namespace}/${metadata.name}`;
    const identity = (each: CustomResource) =>
      `${each.metadata.namespace}/${definition.hubName(each)}/${definition.identity?.(each)}`;
    return this.resources.filter(
      (each) => each.kind === one.kind && place(each) !== place(one) && identity(each) === identity(one),
    );
  }

  secretsOf(): ReadSecrets | undefined {
    return this.secrets;
  }
}

export const definitionOf = (kind: string): KindDefinition =>
  kinds.find((definition) => definition.kind === kind)!;

import type { Hub } from '../../kinds';
import { objectNames } from '../../kinds/object-names';
import type { ClusterObject } from '../../runtime/objects';

/** The objects of a Hub in the cluster, as far as we read them, and the names by which they refer to each other. */

/** Port of the hub in its pod; the Service may offer another. */
export const HUB_PORT = 8123;
/** Name of the Service's port. */
export const SERVICE_PORT = 'http';
/** The hub's container, to be named in `spec.podTemplate`. */
export const HUB_CONTAINER = 'hub';

/** Label of the hub's pod with the name of the Hub. */
const INSTANCE_LABEL = 'app.kubernetes.io/instance';

/** Labels that only the pod of this hub has. */
export function selectorOf(hub: Hub): Record<string, string> {
  return { 'app.kubernetes.io/name': 'home-assistant', [INSTANCE_LABEL]: hub.metadata.name };
}

/** The claim of a Hub: its own, or the one that it names. */
export function claimName({ metadata, spec }: Hub): string {
  return spec.storage?.existingClaim ?? objectNames(metadata.name).volumeClaim;
}

/** A PersistentVolumeClaim. */
export interface Claim extends ClusterObject {
  readonly spec: {
    readonly storageClassName?: string;
    readonly accessModes?: readonly string[];
    readonly resources?: { readonly requests?: { readonly storage?: string } };
  };
  readonly status?: {
    readonly phase?: string;
    readonly capacity?: { readonly storage?: string };
    readonly conditions?: readonly {
      readonly type: string;
      readonly status: string;
      readonly message?: string;
    }[];
  };
}

export interface StatefulSet extends ClusterObject {
  readonly spec: {
    readonly template: {
      readonly metadata?: { readonly annotations?: Readonly<Record<string, string>> };
      readonly spec?: PodSpec;
    };
  };
  readonly status?: { readonly observedGeneration?: number; readonly updateRevision?: string };
}

export interface PodSpec {
  readonly volumes?: readonly { readonly persistentVolumeClaim?: { readonly claimName: string } }[];
}

export function mountsClaim(spec: PodSpec | undefined, claim: string): boolean {
  return spec?.volumes?.some((volume) => volume.persistentVolumeClaim?.claimName === claim) ?? false;
}

export interface Service extends ClusterObject {
  readonly spec?: { readonly ports?: readonly { readonly name?: string; readonly port: number }[] };
}

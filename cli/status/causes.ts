import { configuration, hub, kindsByName } from '../../operator/kinds';
import { registryName } from '../../operator/kinds/ids';
import { hubStateReasons, type ReadyReason } from '../../operator/kinds/reasons';
import type { CustomResource, Resource } from '../../operator/kinds/resource';
import { type State, stateOf } from './state';

/** A link in the chain from a resource that is not Ready to the cause. */
export interface Cause {
  readonly kind: string;
  readonly name: string;
  readonly state: 'missing' | State;
  readonly reason?: string;
}

/** The objects of the cluster in which causes are searched. */
export interface ClusterObjects {
  /** Resources of the operator's kinds, by kind. */
  readonly resources: ReadonlyMap<string, readonly CustomResource[]>;
  /** The kinds that the user may not list, with the API server's error message. `resources` lacks them. */
  readonly refused?: ReadonlyMap<string, string>;
  /** Whether a Secret exists; undefined if that is not known. */
  hasSecret(name: string): boolean | undefined;
}

/** The kinds of references for which a resource waits, by the reason of its condition. */
const awaitedKinds: Partial<Record<ReadyReason, readonly string[]>> = {
  ...Object.fromEntries(hubStateReasons.map((reason) => [reason, [hub.kind]])),
  TokenNotAvailable: ['Secret', hub.kind],
  TokenRejected: ['Secret', hub.kind],
  FloorNotReady: ['HubFloor'],
  LabelNotReady: ['HubLabel'],
  AreaNotFound: ['HubArea'],
  LabelNotFound: ['HubLabel'],
  SecretNotFound: ['Secret'],
  KeyNotFound: ['HubSecrets', 'Secret'],
};

/**
 * Follows the references of a resource that is not Ready, to the first object that is missing or failed on
 * its own account.
 */
export function causesOf(resource: CustomResource, objects: ClusterObjects): readonly Cause[] {
  return follow(resource, objects, new Set([resource]));
}

function follow(
  resource: CustomResource,
  objects: ClusterObjects,
  seen: Set<CustomResource>,
): readonly Cause[] {
  for (const { kind, name } of awaited(resource)) {
    if (kind === 'Secret') {
      if (objects.hasSecret(name) === false) return [{ kind, name, state: 'missing' }];
      continue;
    }
    if (objects.refused?.has(kind)) continue; // it is not known whether the object exists
    const found = find(objects, kind, name, hubNameOf(resource));
    if (!found) return [{ kind, name: writtenName(resource, kind, name), state: 'missing' }];
    const { state, reason } = stateOf(found);
    if (state === 'Ready' || seen.has(found)) continue;
    seen.add(found);
    const cause = { kind, name: found.metadata.name, state, ...(reason !== undefined && { reason }) };
    return [cause, ...follow(found, objects, seen)];
  }
  return [];
}

/** The references for which a resource with this reason waits. */
function awaited(resource: CustomResource): readonly { readonly kind: string; readonly name: string }[] {
  const { reason } = stateOf(resource);
  // The Hub refers to the generated ConfigMap, but users write the HubConfiguration.
  if (reason === 'WaitingForConfiguration') return [{ kind: configuration.kind, name: '' }];
  const kinds = awaitedKinds[reason as ReadyReason] ?? [];
  const references = kindsByName.get(resource.kind)?.references(resource) ?? [];
  return references.filter(({ kind }) => kinds.includes(kind));
}

export function hubNameOf(resource: CustomResource): string {
  return kindsByName.get(resource.kind)?.hubName(resource) ?? '';
}

/**
 * Finds an object by `metadata.name` or, like references of resources, by the identity in the hub. Without a
 * name, finds the only one of the hub.
 */
function find(
  { resources }: ClusterObjects,
  kind: string,
  name: string,
  hubName: string,
): CustomResource | undefined {
  const candidates = (resources.get(kind) ?? []).filter(
    (each) => kind === hub.kind || hubNameOf(each) === hubName,
  );
  const definition = kindsByName.get(kind);
  return name === ''
    ? candidates[0]
    : (candidates.find(({ metadata }) => metadata.name === name) ??
        candidates.find((each) => definition?.identity?.(each as Resource<object, object>) === name));
}

/**
 * The name as the resource writes it. References to floors and labels contain the normalized name instead.
 */
function writtenName({ spec }: CustomResource, kind: string, name: string): string {
  if (name === '') return kind === configuration.kind ? 'of the hub' : '';
  const { entity = {} } = spec as { readonly entity?: object };
  const texts = [spec, entity].flatMap((each) => Object.values(each) as unknown[]).flat();
  const written = texts.find((text) => typeof text === 'string' && registryName(text) === name);
  return (written as string | undefined) ?? name;
}

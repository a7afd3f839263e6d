import { configuration, hub, kindsByName } from '../../operator/kinds';
import { registryName } from '../../operator/kinds/ids';
import { hubStateReasons, type ReadyReason } from '../../operator/kinds/reasons';
import type { CustomResource, Resource } from '../../operator/kinds/resource';
import { type State, stateOf } from './state';

/** A link of the chain from a resource that is not Ready to the cause. */
export interface Cause {
  readonly kind: string;
  readonly name: string;
  readonly state: 'missing' | State;
  readonly reason?: string;
}

/** The objects of the cluster among which causes are found. */
export interface ClusterObjects {
  /** Resources of ours by kind. */
  readonly resources: ReadonlyMap<string, readonly CustomResource[]>;
  /** The kinds that the user may not list, with the words of the API server; they are not among the resources. */
  readonly refused?: ReadonlyMap<string, string>;
  /** Whether a Secret exists; undefined: not known. */
  hasSecret(name: string): boolean | undefined;
}

/** The kinds of the references that a resource waits for when it has such a reason. */
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

/** Follows the references of a resource that is not Ready to the first object that is missing or failed by itself. */
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
    if (objects.refused?.has(kind)) continue; // whether it is there is not known
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

/** The references that a resource of this reason waits for. */
function awaited(resource: CustomResource): readonly { readonly kind: string; readonly name: string }[] {
  const { reason } = stateOf(resource);
  // The Hub refers to the generated ConfigMap; people write the HubConfiguration.
  if (reason === 'WaitingForConfiguration') return [{ kind: configuration.kind, name: '' }];
  const kinds = awaitedKinds[reason as ReadyReason] ?? [];
  const references = kindsByName.get(resource.kind)?.references(resource) ?? [];
  return references.filter(({ kind }) => kinds.includes(kind));
}

export function hubNameOf(resource: CustomResource): string {
  return kindsByName.get(resource.kind)?.hubName(resource) ?? '';
}

/** By `metadata.name`, or by the identity in the hub, as references of resources are; without a name, the only one of the hub. */
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

/** The name as the resource writes it: references to floors and labels have the form in which the hub compares names. */
function writtenName({ spec }: CustomResource, kind: string, name: string): string {
  if (name === '') return kind === configuration.kind ? 'of the hub' : '';
  const texts = Object.values(spec as object).flat() as unknown[];
  const written = texts.find((text) => typeof text === 'string' && registryName(text) === name);
  return (written as string | undefined) ?? name;
}

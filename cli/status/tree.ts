import { hub as hubKind, kinds } from '../../operator/kinds';
import { readyReasons } from '../../operator/kinds/reasons';
import type { CustomResource } from '../../operator/kinds/resource';
import { causesOf, type Cause, type ClusterObjects, hubNameOf } from './causes';
import { type State, stateOf } from './state';

/** A resource that is not Ready. */
export interface Problem {
  readonly kind: string;
  readonly name: string;
  readonly state: State;
  readonly reason?: string;
  readonly message?: string;
  /** From the resource to the cause; empty: the cause is its own. */
  readonly causes: readonly Cause[];
  /** A sentence. */
  readonly wayOut?: string;
}

export interface KindStatus {
  readonly kind: string;
  readonly total: number;
  readonly ready: number;
  readonly suspended: number;
  /** Resources that only wait for the Hub: its own problem says why. */
  readonly waitingForHub: number;
  /** The others. */
  readonly problems: readonly Problem[];
}

export interface HubTree {
  readonly name: string;
  readonly state: State | 'missing';
  readonly phase?: string;
  readonly version?: string;
  readonly url?: string;
  /** Absent: the Hub is Ready. */
  readonly problem?: Problem;
  readonly kinds: readonly KindStatus[];
}

/** The hubs of a namespace with their resources, in the order of their names; also hubs that resources name and that do not exist. */
export function treesOf(objects: ClusterObjects, only?: string): readonly HubTree[] {
  const hubs = objects.resources.get(hubKind.kind) ?? [];
  const children = new Map<string, CustomResource[]>();
  for (const [kind, resources] of objects.resources)
    if (kind !== hubKind.kind)
      for (const resource of resources) {
        const name = hubNameOf(resource);
        const known = children.get(name);
        if (known) known.push(resource);
        else children.set(name, [resource]);
      }
  const names = new Set([...hubs.map(({ metadata }) => metadata.name), ...children.keys()]);
  return [...names]
    .filter((name) => only === undefined || name === only)
    .sort()
    .map((name) =>
      treeOf(
        name,
        hubs.find(({ metadata }) => metadata.name === name),
        children.get(name) ?? [],
        objects,
      ),
    );
}

function treeOf(
  name: string,
  hub: CustomResource | undefined,
  children: readonly CustomResource[],
  objects: ClusterObjects,
): HubTree {
  const ofKinds = kinds
    .map(({ kind }) =>
      kindStatus(
        kind,
        children.filter((each) => each.kind === kind),
        objects,
      ),
    )
    .filter(({ total }) => total > 0);
  if (!hub)
    return {
      name,
      state: 'missing',
      problem: {
        kind: hubKind.kind,
        name,
        state: 'Failed',
        message: `The Hub ${name} does not exist, and resources name it in spec.hubRef.`,
        causes: [],
        wayOut: 'Create the Hub, or correct `spec.hubRef.name`.',
      },
      kinds: ofKinds,
    };
  const { phase, version, url } = (hub.status ?? {}) as Readonly<Record<string, string | undefined>>;
  const { state } = stateOf(hub);
  return {
    name,
    state,
    ...(phase !== undefined && { phase }),
    ...(version !== undefined && { version }),
    ...(url !== undefined && { url }),
    ...(state !== 'Ready' && { problem: problemOf(hub, objects) }),
    kinds: ofKinds,
  };
}

function kindStatus(kind: string, resources: readonly CustomResource[], objects: ClusterObjects): KindStatus {
  const states = resources.map((resource) => ({ resource, ...stateOf(resource) }));
  const others = states
    .filter(({ state }) => state !== 'Ready' && state !== 'Suspended')
    .map(({ resource }) => problemOf(resource, objects));
  const problems = others.filter(({ causes: [first] }) => first?.kind !== hubKind.kind);
  return {
    kind,
    total: resources.length,
    ready: states.filter(({ state }) => state === 'Ready').length,
    suspended: states.filter(({ state }) => state === 'Suspended').length,
    waitingForHub: others.length - problems.length,
    problems: problems.sort((a, b) => (a.name < b.name ? -1 : 1)),
  };
}

function problemOf(resource: CustomResource, objects: ClusterObjects): Problem {
  const { state, reason, message } = stateOf(resource);
  const causes = state === 'Suspended' ? [] : causesOf(resource, objects);
  const wayOut = wayOutOf(causes, reason);
  return {
    kind: resource.kind,
    name: resource.metadata.name,
    state,
    ...(reason !== undefined && { reason }),
    ...(message !== undefined && { message }),
    causes,
    ...(wayOut !== undefined && { wayOut }),
  };
}

/** The action for the last known reason of the chain, as docs/reference/conditions.md has it. */
function wayOutOf(causes: readonly Cause[], own: string | undefined): string | undefined {
  const reasons = [own, ...causes.map(({ reason }) => reason)].filter((reason) => reason !== undefined);
  const last = reasons.at(-1);
  const documented = Object.entries(readyReasons).find(([reason]) => reason === last);
  return (documented?.[1] as { readonly action?: string } | undefined)?.action;
}

/** Whether all that the trees show is Ready or suspended. */
export const isAllReady = (trees: readonly HubTree[]): boolean =>
  trees.every(
    ({ problem, kinds: ofKinds }) =>
      (problem === undefined || problem.state === 'Suspended') &&
      ofKinds.every(({ problems, waitingForHub }) => problems.length + waitingForHub === 0),
  );

import { hub as hubKind, kinds, kindsByName } from '../../operator/kinds';
import { flowKeyIn, isDisabledEntityText } from '../../operator/kinds/case-texts';
import { noticesIn } from '../../operator/kinds/hub/running-text';
import { readyReasons } from '../../operator/kinds/reasons';
import type { CustomResource } from '../../operator/kinds/resource';
import { causesOf, type Cause, type ClusterObjects, hubNameOf } from './causes';
import { type State, stateOf } from './state';

/** A resource that is not Ready. */
export interface Problem {
  readonly kind: string;
  readonly name: string;
  /** The entity or device whose settings the resource describes: `settings of light.kitchen`. */
  readonly subject?: string;
  readonly state: State;
  readonly reason?: string;
  readonly message?: string;
  /** The chain from the resource to the cause; empty if the resource itself is the cause. */
  readonly causes: readonly Cause[];
  /** The remedy, as a sentence. */
  readonly wayOut?: string;
}

export interface KindStatus {
  readonly kind: string;
  readonly total: number;
  readonly ready: number;
  readonly suspended: number;
  /** Number of resources that only wait for the Hub. The problem of the Hub gives the cause. */
  readonly waitingForHub: number;
  /** Problems that have other causes than the Hub. */
  readonly problems: readonly Problem[];
  /** The API server's error message if the user may not list the kind. */
  readonly notRead?: string;
}

export interface HubTree {
  /** Only set in output for all namespaces. */
  readonly namespace?: string;
  readonly name: string;
  /** `unknown` if the user may not read Hubs. */
  readonly state: State | 'missing' | 'unknown';
  readonly phase?: string;
  readonly version?: string;
  readonly url?: string;
  /** Absent if the Hub is Ready. */
  readonly problem?: Problem;
  /** Sentences about parts of the spec of a Ready Hub that are not set up. */
  readonly notices?: string;
  readonly notRead?: string;
  readonly kinds: readonly KindStatus[];
}

/**
 * The hubs of a namespace with their resources, sorted by name. Hubs that resources refer to but that do not
 * exist are included.
 */
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
  const ofKinds = kindsOf(children, objects);
  const { notRead } = notReadOf(hubKind.kind, objects);
  if (!hub && notRead !== undefined) return { name, state: 'unknown', notRead, kinds: ofKinds };
  if (!hub) return { name, state: 'missing', problem: missing(name), kinds: ofKinds };
  const { phase, version, url } = (hub.status ?? {}) as Readonly<Record<string, string | undefined>>;
  const { state, message } = stateOf(hub);
  const notices = state === 'Ready' ? noticesIn(message ?? '') : undefined;
  return {
    name,
    state,
    ...(phase !== undefined && { phase }),
    ...(version !== undefined && { version }),
    ...(url !== undefined && { url }),
    ...(state !== 'Ready' && { problem: problemOf(hub, objects) }),
    ...(notices !== undefined && { notices }),
    kinds: ofKinds,
  };
}

/** The kinds of which the Hub has resources, or that the user may not list. */
const kindsOf = (children: readonly CustomResource[], objects: ClusterObjects): readonly KindStatus[] =>
  kinds
    .map(({ kind }) => ({
      ...kindStatus(
        kind,
        children.filter((each) => each.kind === kind),
        objects,
      ),
      ...notReadOf(kind, objects),
    }))
    .filter(({ kind, total, notRead }) => total > 0 || (notRead !== undefined && kind !== hubKind.kind));

const missing = (name: string): Problem => ({
  kind: hubKind.kind,
  name,
  state: 'Failed',
  message: `The Hub ${name} does not exist, and resources name it in spec.hubRef.`,
  causes: [],
  wayOut: 'Create the Hub, or correct `spec.hubRef.name`.',
});

function notReadOf(kind: string, { refused }: ClusterObjects): { readonly notRead?: string } {
  const notRead = refused?.get(kind);
  return notRead === undefined ? {} : { notRead };
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
  const subject = kindsByName.get(resource.kind)?.subject?.(resource);
  const wayOut = (causes.length === 0 ? wayOutOfCase(resource) : undefined) ?? wayOutOf(causes, reason);
  return {
    kind: resource.kind,
    name: resource.metadata.name,
    ...(subject !== undefined && { subject }),
    state,
    ...(reason !== undefined && { reason }),
    ...(message !== undefined && { message }),
    causes,
    ...(wayOut !== undefined && { wayOut }),
  };
}

/** The remedy for one case of a reason that has several cases. */
function wayOutOfCase(resource: CustomResource): string | undefined {
  const { reason, message = '' } = stateOf(resource);
  const { kind, metadata } = resource;
  if (reason === 'DriftDetected')
    return isDisabledEntityText(message)
      ? 'Enable the entity in the hub.'
      : `kubectl hub pull ${kindsByName.get(kind)!.shortNames[0] ?? kind}/${metadata.name} --write FILE takes the change over; \`driftPolicy: Correct\` takes it back.`;
  if (reason === 'ConfigFlowFailed' && flowKeyIn(message) === 'cannot_connect')
    return 'Nothing if the service comes back: the operator tries again within minutes. Otherwise correct the address in the answers.';
  return undefined;
}

/** The remedy for the last known reason of the chain, from the table for docs/reference/conditions.md. */
function wayOutOf(causes: readonly Cause[], own: string | undefined): string | undefined {
  const reasons = [own, ...causes.map(({ reason }) => reason)].filter((reason) => reason !== undefined);
  const last = reasons.at(-1);
  const documented = Object.entries(readyReasons).find(([reason]) => reason === last);
  return (documented?.[1] as { readonly action?: string } | undefined)?.action;
}

/** Whether everything in the trees is Ready or suspended. */
export const isAllReady = (trees: readonly HubTree[]): boolean =>
  trees.every(
    ({ problem, kinds: ofKinds }) =>
      (problem === undefined || problem.state === 'Suspended') &&
      ofKinds.every(({ problems, waitingForHub }) => problems.length + waitingForHub === 0),
  );

/**
 * Decides which pods fit this node, and gives the scheduler's message for the others. All functions are pure.
 */
import {
  type V1NodeSelectorRequirement,
  type V1NodeSelectorTerm,
  type V1Node,
  type V1Pod,
} from '@kubernetes/client-node';
import type { Lookup } from './lookup';

const PREFIX = '0/1 nodes are available:';

/** Returns why the pod cannot be bound to the node now, or `undefined` when it can. */
export function unschedulable(pod: V1Pod, node: V1Node, lookup: Lookup): string | undefined {
  const problem =
    claimProblem(pod, lookup) ??
    (selects(pod, node) ? undefined : "1 node(s) didn't match Pod's node affinity/selector") ??
    podAffinityProblem(pod) ??
    resourceProblem(pod, node);
  return problem && `${PREFIX} ${problem}.`;
}

/** Whether the pod waits for the default scheduler. */
export function wantsNode(pod: V1Pod): boolean {
  const { nodeName, schedulerName, schedulingGates } = pod.spec ?? {};
  return (
    !nodeName &&
    !pod.metadata?.deletionTimestamp &&
    (schedulerName ?? 'default-scheduler') === 'default-scheduler' &&
    !schedulingGates?.length
  );
}

function claimProblem(pod: V1Pod, lookup: Lookup): string | undefined {
  for (const { persistentVolumeClaim } of pod.spec?.volumes ?? []) {
    if (!persistentVolumeClaim) continue;
    const { claimName } = persistentVolumeClaim;
    const claim = lookup.claim(pod.metadata?.namespace ?? '', claimName);
    if (!claim) return `persistentvolumeclaim "${claimName}" not found`;
    if (claim.metadata?.deletionTimestamp) return `persistentvolumeclaim "${claimName}" is being deleted`;
    if (claim.status?.phase !== 'Bound') return 'pod has unbound immediate PersistentVolumeClaims';
  }
  return undefined;
}

function selects(pod: V1Pod, node: V1Node): boolean {
  const labels = node.metadata?.labels ?? {};
  const selector = Object.entries(pod.spec?.nodeSelector ?? {});
  const required = pod.spec?.affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution;
  return (
    selector.every(([key, value]) => labels[key] === value) &&
    (!required || required.nodeSelectorTerms.some((term) => termMatches(term, node)))
  );
}

function termMatches({ matchExpressions = [], matchFields = [] }: V1NodeSelectorTerm, node: V1Node): boolean {
  const fields = { 'metadata.name': node.metadata?.name ?? '' };
  return (
    matchExpressions.length + matchFields.length > 0 &&
    matchExpressions.every((requirement) => meets(requirement, node.metadata?.labels ?? {})) &&
    matchFields.every((requirement) => meets(requirement, fields))
  );
}

function meets({ key, operator, values = [] }: V1NodeSelectorRequirement, labels: Record<string, string>) {
  const value = labels[key];
  switch (operator) {
    case 'In':
      return value !== undefined && values.includes(value);
    case 'NotIn':
      return value === undefined || !values.includes(value);
    case 'Exists':
      return value !== undefined;
    case 'DoesNotExist':
      return value === undefined;
    case 'Gt':
      return value !== undefined && Number(value) > Number(values[0]);
    case 'Lt':
      return value !== undefined && Number(value) < Number(values[0]);
    default:
      return false;
  }
}

function podAffinityProblem(pod: V1Pod): string | undefined {
  const { podAffinity, podAntiAffinity } = pod.spec?.affinity ?? {};
  for (const rules of [podAffinity, podAntiAffinity]) {
    if (rules?.requiredDuringSchedulingIgnoredDuringExecution?.length) {
      return 'the sandbox does not know required pod (anti-)affinity';
    }
  }
  return undefined;
}

/**
 * Compares the pod's requests with the whole machine. The requests of other pods are not subtracted, so only
 * a request that can never be met is rejected, such as a device or more memory than the machine has.
 */
function resourceProblem(pod: V1Pod, node: V1Node): string | undefined {
  const allocatable = node.status?.allocatable ?? {};
  const totals = new Map<string, number>();
  for (const { resources } of pod.spec?.containers ?? []) {
    for (const [name, quantity] of Object.entries(resources?.requests ?? {})) {
      totals.set(name, (totals.get(name) ?? 0) + amount(quantity));
    }
  }
  const lacking = [...totals].filter(([name, total]) => total > amount(allocatable[name] ?? '0'));
  return lacking.length ? lacking.map(([name]) => `1 Insufficient ${name}`).join(', ') : undefined;
}

const SUFFIXES = ['', 'k', 'M', 'G', 'T', 'P', 'E'];

/** Parses a resource quantity such as `500m`, `2`, `1536Mi`, `1G` or `1e3`. */
function amount(quantity: string): number {
  const [, digits = '', suffix = ''] = /^([\d.]+(?:[eE]\d+)?)(.*)$/.exec(quantity) ?? [];
  if (suffix === 'm') return Number(digits) / 1000;
  const base = suffix.endsWith('i') ? 1024 : 1000;
  return Number(digits) * base ** SUFFIXES.indexOf(suffix.replace('i', '').replace('K', 'k'));
}

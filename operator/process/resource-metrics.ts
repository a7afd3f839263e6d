import { userAnnotations } from '../kinds/annotations';
import type { CustomResource } from '../kinds/resource';
import { hub } from '../kinds/hub';
import { otherConditions } from '../kinds/reasons';
import type { Metrics } from './metrics';
import { conditionOf, isReady } from '../runtime/conditions';

/**
 * The state of a resource by the rules of kstatus. `suspended` is for resources that change nothing,
 * suspended ones and those in a dry-run: alerts on the other states ignore them.
 */
const resourceStates = ['ready', 'reconciling', 'stalled', 'suspended'] as const;
export type ResourceState = (typeof resourceStates)[number];

/**
 * `ready` and `stalled` hold for the present spec only: until the operator has seen a change, the resource is
 * `reconciling`.
 */
export function resourceState(resource: CustomResource): ResourceState {
  const { metadata, spec, status } = resource;
  if (spec.suspend || metadata.annotations?.[userAnnotations.dryRun] === 'true') return 'suspended';
  if (status?.observedGeneration !== metadata.generation) return 'reconciling';
  if (conditionOf(resource, 'Stalled')?.status === 'True') return 'stalled';
  return isReady(resource) ? 'ready' : 'reconciling';
}

/** Returns the cached resources of a kind. */
type List = (kind: string) => Iterable<CustomResource>;

/**
 * Metrics of the resources themselves, computed at each scrape. All kinds have one series per state, however many
 * resources there are; only Hubs, which are few, have series of their own.
 */
export function observeResources(metrics: Metrics, kindNames: readonly string[], list: List): void {
  observeKinds(metrics, kindNames, list);
  observeHubs(metrics, list);
}

function observeKinds(metrics: Metrics, kindNames: readonly string[], list: List): void {
  metrics.gauge(
    'hub_operator_resources',
    `Resources by kind and state: ready, reconciling (something is in progress or waited for), stalled (only the user or the hub can help) or suspended (\`spec.suspend\` or the annotation \`${userAnnotations.dryRun}\`).`,
    ['kind', 'state'],
    (gauge) => {
      for (const kind of kindNames)
        for (const [state, count] of countByState(list(kind))) gauge.set({ kind, state }, count);
    },
  );
  metrics.gauge(
    'hub_operator_resources_with_missing_references',
    'Resources by kind whose condition `ReferencesFound` is False: they refer to what their hub does not have.',
    ['kind'],
    (gauge) => {
      for (const kind of otherConditions.ReferencesFound.kinds) {
        const missing = [...list(kind)].filter(
          (each) => conditionOf(each, 'ReferencesFound')?.status === 'False',
        );
        gauge.set({ kind }, missing.length);
      }
    },
  );
}

function observeHubs(metrics: Metrics, list: List): void {
  metrics.gauge(
    'hub_operator_hub_phase',
    'Always 1; the label `phase` is that of the Hub: Pending, Running, Failed or Unknown.',
    ['hub_namespace', 'hub', 'phase'],
    (gauge) => {
      gauge.reset();
      for (const each of list(hub.kind)) gauge.set({ ...labelsOf(each), phase: phaseOf(each) }, 1);
    },
  );
  metrics.gauge(
    'hub_operator_hub_condition',
    'The conditions of each Hub: 1 if True, else 0.',
    ['hub_namespace', 'hub', 'type'],
    (gauge) => {
      gauge.reset();
      for (const each of list(hub.kind)) {
        gauge.set({ ...labelsOf(each), type: 'Ready' }, 0); // also before its first reconcile
        for (const { type, status } of each.status?.conditions ?? [])
          gauge.set({ ...labelsOf(each), type }, status === 'True' ? 1 : 0);
      }
    },
  );
  metrics.gauge(
    'hub_operator_hub_self_unbans',
    'Restarts of each hub because it had banned the operator, as in `status.selfUnbanCount`.',
    ['hub_namespace', 'hub'],
    (gauge) => {
      gauge.reset();
      for (const each of list(hub.kind))
        gauge.set(labelsOf(each), Number(each.status?.['selfUnbanCount'] ?? 0));
    },
  );
}

function phaseOf({ status }: CustomResource): string {
  const phase = status?.['phase'];
  return typeof phase === 'string' ? phase : 'Pending';
}

function countByState(resources: Iterable<CustomResource>): ReadonlyMap<ResourceState, number> {
  const counts = new Map(resourceStates.map((state) => [state, 0]));
  for (const resource of resources) {
    const state = resourceState(resource);
    counts.set(state, counts.get(state)! + 1);
  }
  return counts;
}

/**
 * The label is not called `namespace`: Prometheus uses that name for the namespace of the pod that it
 * scrapes.
 */
const labelsOf = ({ metadata: { name, namespace } }: CustomResource) => ({
  hub_namespace: namespace,
  hub: name,
});

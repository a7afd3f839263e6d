import type { Hub, HubSpec } from '../../kinds';
import { objectNames } from '../../kinds/object-names';
import type { ClusterObject } from '../../runtime/objects';
import { builtin } from '../../runtime/types';
import type { Services } from '../services';
import { type PodHashes, podTemplate } from './pod-template';

export interface StatefulSet extends ClusterObject {
  readonly spec: { readonly template: { readonly metadata?: { readonly annotations?: Readonly<Record<string, string>> } } };
  readonly status?: {
    readonly observedGeneration?: number;
    readonly readyReplicas?: number;
    readonly currentRevision?: string;
    readonly updateRevision?: string;
  };
}

export async function syncStatefulSet(services: Services, hub: Hub, spec: HubSpec, hashes: PodHashes): Promise<StatefulSet> {
  const { name, namespace } = hub.metadata;
  const selector = selectorOf(hub);
  const labels = { ...selector, ...services.applier.labels(hub) };
  return services.applier.apply<StatefulSet>(
    builtin.StatefulSet,
    {
      apiVersion: 'apps/v1',
      kind: 'StatefulSet',
      metadata: { name: objectNames(name).workload, namespace, labels: selector },
      spec: {
        replicas: 1,
        serviceName: objectNames(name).workload,
        // With OrderedReady a pod that never gets ready is not replaced by a corrected template.
        podManagementPolicy: 'Parallel',
        updateStrategy: { type: 'RollingUpdate' },
        revisionHistoryLimit: 2,
        selector: { matchLabels: selector },
        template: podTemplate(hub, spec, labels, hashes),
      },
    },
    { owner: hub },
  );
}

/** Labels that only this hub's pod has. */
export function selectorOf(hub: Hub): Record<string, string> {
  return { 'app.kubernetes.io/name': 'home-assistant', 'app.kubernetes.io/instance': hub.metadata.name };
}

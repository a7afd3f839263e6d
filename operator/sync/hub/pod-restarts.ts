import { getCoreState } from '../../client/core';
import { HubError } from '../../client/errors';
import type { Hub, HubConfiguration } from '../../kinds/index';
import { objectNames } from '../../kinds/object-names';
import { LONGEST_START } from '../../limits';
import { isConflict, isNotFound } from '../../runtime/api-errors';
import { pathOf } from '../../runtime/objects';
import { builtin } from '../../runtime/types';
import type { HubClients } from '../hub-clients';
import { PerHub } from '../per-hub';
import type { Services } from '../services';
import { HUB_CONTAINER, type StatefulSet } from './owned-objects';
import type { Pod } from './pod';

/** Whether the applied pod template is the desired one. `held`: it cannot be applied now. */
export type TemplateState = 'current' | 'pending' | 'held';

/**
 * - `deleted`: the pod goes, and its successor starts.
 * - `rollout`: a changed pod template is about to replace the pod.
 * - `busy`: the hub starts or migrates its database.
 * - `unknown`: this process has not compared the pod template yet.
 */
export type RestartResult = 'deleted' | 'rollout' | 'busy' | 'unknown';

/**
 * Restarts hubs by the deletion of their pods. It knows of rollouts, so that one cause does not restart a hub twice: after an
 * update of the operator, both the pod template and the configuration may ask for a restart.
 */
export class PodRestarts {
  private readonly templates: PerHub<TemplateState>;

  constructor(
    private readonly services: Pick<Services, 'cache' | 'clock' | 'cluster' | 'log' | 'requeue'>,
    private readonly hubs: Pick<HubClients, 'contact'>,
  ) {
    this.templates = new PerHub(services.cache);
  }

  /** The Hub has compared its pod template. Its HubConfiguration may wait for that. */
  recordTemplate(hub: Hub, state: TemplateState): void {
    if (this.templates.get(hub) === state) return;
    this.templates.set(hub, state);
    const { namespace, name } = hub.metadata;
    for (const { kind, metadata } of this.services.cache.ofHub<HubConfiguration>(
      'HubConfiguration',
      namespace,
      name,
    ))
      this.services.requeue(kind ?? '', namespace, metadata.name);
  }

  /** Deletes the pod, unless a rollout is about to do so or its hub must not be interrupted. */
  async restart(hub: Hub, pod: Pod, reason: string): Promise<RestartResult> {
    const template = this.templates.get(hub);
    if (template === undefined) return 'unknown';
    if (pod.metadata.deletionTimestamp) return 'deleted';
    if (template === 'pending' || this.isOutdated(hub, pod)) return 'rollout';
    if (await this.isBusy(hub)) return 'busy';
    const { namespace, name } = hub.metadata;
    const { log, cluster } = this.services;
    log.warn({ kind: hub.kind, namespace, name, pod: pod.metadata.name, reason }, 'deleting pod of hub');
    try {
      await cluster.request({
        method: 'DELETE',
        path: pathOf(builtin.Pod, namespace, pod.metadata.name),
        body: { apiVersion: 'v1', kind: 'DeleteOptions', preconditions: { uid: pod.metadata.uid } },
      });
    } catch (error) {
      if (!isNotFound(error) && !isConflict(error)) throw error; // it is gone already
    }
    return 'deleted';
  }

  /**
   * Whether the hub says that it starts or migrates its database. A start is not waited for longer than {@link LONGEST_START}:
   * the restart may be what mends it. A hub that does not answer may be interrupted.
   */
  async isBusy(hub: Hub): Promise<boolean> {
    const container = this.podOf(hub)?.status?.containerStatuses?.find(({ name }) => name === HUB_CONTAINER);
    const startedAt = container?.state?.running?.startedAt;
    if (startedAt === undefined) return false;
    const contacted = await this.hubs.contact(hub);
    if ('missing' in contacted) return false;
    try {
      const { state, isMigrating } = await getCoreState(contacted.client.rest);
      const isStarting = state === 'NOT_RUNNING' || state === 'STARTING';
      return isMigrating || (isStarting && this.services.clock.now() - Date.parse(startedAt) < LONGEST_START);
    } catch (error) {
      if (!(error instanceof HubError)) throw error;
      return false;
    }
  }

  /** Whether the pod is being replaced anyway, or there is none: its successor gets the present template. */
  isGoing({ metadata: { namespace, name } }: Hub): boolean {
    const pod = this.services.cache.get<Pod>(builtin.Pod.kind, namespace, objectNames(name).pod);
    return !pod || pod.metadata.deletionTimestamp !== undefined;
  }

  /** The template was applied, and the StatefulSet controller has not replaced the pod yet. */
  private isOutdated({ metadata: { namespace, name } }: Hub, pod: Pod): boolean {
    const set = this.services.cache.get<StatefulSet>(
      builtin.StatefulSet.kind,
      namespace,
      objectNames(name).workload,
    );
    const { generation } = set?.metadata ?? {};
    const { observedGeneration, updateRevision } = set?.status ?? {};
    if (generation === undefined || observedGeneration === undefined) return false;
    const revision = pod.metadata.labels?.['controller-revision-hash'];
    return observedGeneration < generation || (revision !== undefined && revision !== updateRevision);
  }

  private podOf({ metadata: { namespace, name } }: Hub): Pod | undefined {
    return this.services.cache.get<Pod>(builtin.Pod.kind, namespace, objectNames(name).pod);
  }
}

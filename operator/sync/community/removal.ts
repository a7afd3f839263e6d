import { withDeadline } from '../../base/deadline';
import { HubError, HubUnreachable } from '../../client/connection/errors';
import type { Hub, HubCommunityRepository } from '../../kinds';
import { FINALIZER_TRY, HAND_OVER_GRACE, INSTALLED_REMOVAL_TIMEOUT } from '../../base/limits';
import type { EventSpec } from '../../runtime/event-spec';
import type { Waiting } from '../../runtime/outcome';
import { HAND_OVER, type ReconcileContext, type Removed } from '../../runtime/sync-module';
import type { Pod } from '../hub-pod/owned-objects';
import { keepsVolume } from '../hub-pod/retain';
import type { HubClients } from '../hub-connection/hub-clients';
import { DeletionAge } from '../deletion-age';
import type { Services } from '../services';
import { activators } from './activation';
import { InstallRejected } from './errors';
import type { Installer } from './installer';
import { installationOf, verdictOf } from './installer-pod';
import * as conditions from './conditions';
import type { Preparations } from './preparation';
import { isRecorded, recordOf } from './record';
import type { Targets } from './targets';

/** Removes an installation: a pod removes it from the volume, then the running hub is told. */
export class CommunityRemoval {
  private readonly age: DeletionAge;

  constructor(
    private readonly services: Pick<Services, 'cache' | 'clock' | 'log' | 'requeue'>,
    private readonly hubs: HubClients,
    private readonly installer: Installer,
    private readonly preparations: Preparations,
    private readonly targets: Targets,
  ) {
    this.age = new DeletionAge(services);
  }

  async remove(
    resource: HubCommunityRepository,
    { dryRun }: ReconcileContext,
    successor?: HubCommunityRepository,
  ): Promise<Removed> {
    const { metadata, spec, status } = resource;
    const target = status?.target;
    this.preparations.forget(metadata.uid);
    const age = this.age.of(resource);
    const pod = this.installer.find(resource);
    const hub = this.hubs.find(metadata.namespace, spec.hubRef.name);
    const isBegun = pod !== undefined && !installationOf(pod)?.install;
    if (target !== undefined && !isBegun && successor?.spec.category === spec.category) {
      // A leftover pod would prevent the deletion of the claim.
      const isUrgent = !hub || hub.metadata.deletionTimestamp !== undefined;
      return this.handOver(resource, target, pod, isUrgent || age > INSTALLED_REMOVAL_TIMEOUT);
    }
    const left = (why: string) => (target === undefined ? [] : [skipped(target, why)]);
    if (!hub) return left(`The Hub ${spec.hubRef.name} does not exist.`);
    if (hub.spec.external) return [];
    // If the volume is not kept, it is deleted with the Hub, including the files.
    if (hub.metadata.deletionTimestamp)
      return keepsVolume(this.services, hub) ? left('The Hub is being deleted.') : [];
    if (dryRun && target !== undefined)
      return this.finish(resource, skipped(target, 'The annotation dry-run is set.'));
    if (age > INSTALLED_REMOVAL_TIMEOUT && (pod || target !== undefined))
      return this.giveUp(resource, 'The pod that removes them has not ended in time.');
    if (pod) return this.follow(resource, pod);
    if (target === undefined) {
      await this.deactivate(resource);
      return this.finish(resource);
    }
    if (age < HAND_OVER_GRACE) return conditions.awaitingSuccessor(target, HAND_OVER_GRACE - age);
    return this.begin(resource, target, hub);
  }

  /** Starts the pod that removes the files. */
  private async begin(resource: HubCommunityRepository, target: string, hub: Hub): Promise<Waiting> {
    const workload = this.installer.workloadOf(hub);
    if (!workload) return conditions.removing(target);
    const removal = { install: null, remove: [target], claimUID: resource.status?.claimUID ?? '' };
    try {
      await this.installer.start(resource, removal, [], workload);
      return conditions.removalBegun(target);
    } catch (error) {
      // The quota may admit the pod before the time limit.
      if (!(error instanceof InstallRejected)) throw error;
      return conditions.removing(target, error.message);
    }
  }

  /**
   * Leaves the files to the successor, once no pod of the resource writes to the volume any more and status shows
   * the version that the pod has left there.
   *
   * @param isUrgent whether a pod that still writes is not waited for
   */
  private async handOver(
    resource: HubCommunityRepository,
    target: string,
    pod: Pod | undefined,
    isUrgent: boolean,
  ): Promise<Removed> {
    const record = pod && recordOf(resource, pod);
    if (record && !isRecorded(resource, record)) return conditions.handingOverNew(record);
    if (pod && !record) {
      const isEnding = isUrgent || pod.metadata.deletionTimestamp !== undefined;
      if (!isEnding && verdictOf(pod).result === 'running') return conditions.handingOver(target);
      if (resource.status?.installedVersion !== undefined) return conditions.handingOverUnknown(target);
    }
    await this.installer.clean(resource);
    if (pod && !isUrgent) return conditions.handingOver(target);
    this.targets.release(resource);
    return HAND_OVER;
  }

  private async follow(resource: HubCommunityRepository, pod: Pod): Promise<readonly EventSpec[] | Waiting> {
    const installation = installationOf(pod);
    const target = resource.status?.target;
    const shown = target ?? installation?.install?.target ?? 'hub-operator';
    const verdict = verdictOf(pod);
    if (pod.metadata.deletionTimestamp || verdict.result === 'running') return conditions.removing(shown);
    const install = installation?.install;
    if (install) {
      // An installation was in progress, so its files have to be removed too.
      if (verdict.result === 'done' && target !== install.target)
        return conditions.installedMeanwhile(install.target);
    } else {
      if (verdict.result !== 'done') return this.giveUp(resource, verdict.message);
      if (target !== undefined) return conditions.removed();
    }
    await this.installer.clean(resource);
    return conditions.removing(shown);
  }

  /**
   * Gives up the removal of files that a pod could not remove. Without a target in status there are no files
   * to report.
   */
  private giveUp(resource: HubCommunityRepository, why: string): Promise<readonly EventSpec[]> {
    const target = resource.status?.target;
    return target === undefined ? this.finish(resource) : this.finish(resource, failed(target, why));
  }

  /**
   * Tells a running hub that its files were removed. A hub that does not respond forgets them when it
   * restarts.
   */
  private async deactivate({ kind, metadata, spec, status }: HubCommunityRepository): Promise<void> {
    const { clock, log } = this.services;
    const { namespace, name } = metadata;
    const hub = this.hubs.find(namespace, spec.hubRef.name);
    const contacted = hub && (await this.hubs.contact(hub));
    const provides = status?.provides;
    if (!contacted || 'missing' in contacted || !provides) return;
    const error = () => new HubUnreachable(`the hub did not respond within ${FINALIZER_TRY / 1_000} s`);
    try {
      await withDeadline({ clock, delay: FINALIZER_TRY, error }, () =>
        activators[spec.category].deactivate(contacted.client, provides),
      );
    } catch (thrown) {
      if (!(thrown instanceof HubError)) throw thrown;
      log.warn({ kind, namespace, name, error: thrown }, 'hub was not told of removed files');
    }
  }

  /**
   * Ends the removal. The Hub is requeued, since it restarts without a removed integration, and the target
   * becomes free for others.
   */
  private async finish(resource: HubCommunityRepository, ...events: EventSpec[]) {
    const { namespace } = resource.metadata;
    await this.installer.clean(resource);
    this.targets.release(resource);
    this.services.requeue('Hub', namespace, resource.spec.hubRef.name);
    return events;
  }
}

const skipped = (target: string, why: string): EventSpec => ({
  type: 'Warning',
  reason: 'CleanupSkipped',
  message: `The files in /config/${target} stay on the volume. ${why}`,
});

const failed = (target: string, why: string): EventSpec => ({
  type: 'Warning',
  reason: 'CleanupFailed',
  message: `The files in /config/${target} could not be removed from the volume: ${why}`,
});

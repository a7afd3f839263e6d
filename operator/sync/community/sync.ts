import {
  communityRepository as definition,
  type Hub,
  type HubCommunityRepository,
  type HubCommunityRepositorySpec,
} from '../../kinds';
import { operatorAnnotations } from '../../kinds/annotations';
import { objectNames } from '../../kinds/object-names';
import { defaulted } from '../../kinds/schema';
import { DEPENDENCY_REQUEUE, DOWNLOAD_REJECTED_RETRY, INSTALLER_TIMEOUT } from '../../base/limits';
import { readNamedSecret } from '../../runtime/named-secret';
import { type Outcome, ready, stalled } from '../../runtime/outcome';
import type { ReconcileContext } from '../../runtime/sync-module';
import { builtin } from '../../runtime/types';
import { claimName, type Pod } from '../hub-pod/owned-objects';
import { communityHash } from '../hub-pod/rollout-hashes';
import type { HubClients } from '../hub-connection/hub-clients';
import { hubErrorOutcome } from '../hub-connection/hub-errors';
import { whileRunning } from '../hub-connection/while-running';
import type { Services } from '../services';
import { activators } from './activation';
import { bundleOf, digestOf, type RepositoryPackage } from './repository-package';
import { DigestMismatch, InstallRejected, RepositoryRefused, TargetTaken } from './errors';
import type { Installer } from './installer';
import { type HubWorkload, installationOf, verdictOf } from './installer-pod';
import * as conditions from './conditions';
import type { Preparations } from './preparation';
import { isRecorded, isUnrecorded, recordOf } from './record';
import type { Targets } from './targets';

/** The inputs of one reconcile. */
interface Reconcile {
  readonly resource: HubCommunityRepository;
  readonly spec: HubCommunityRepositorySpec;
  readonly hub: Hub;
  /** UID of the volume claim. */
  readonly claimUID: string;
  readonly context: ReconcileContext;
}

/**
 * Installs a community repository: downloads and checks it, starts a pod that writes its files to the volume,
 * and makes the hub load them (rules.md, "Community repositories"). Each reconcile does one step, and records
 * it in status or the pod.
 */
export class CommunitySync {
  /** Resources whose files have to be written again, after a forced reconcile. */
  private readonly verifying = new Set<string>();

  constructor(
    private readonly services: Pick<Services, 'cache' | 'applier' | 'secrets' | 'settings' | 'requeue'>,
    private readonly hubs: HubClients,
    private readonly installer: Installer,
    private readonly preparations: Preparations,
    private readonly targets: Targets,
  ) {}

  async sync(resource: HubCommunityRepository, context: ReconcileContext): Promise<Outcome> {
    const spec = defaulted(definition.spec, resource.spec);
    const { namespace, uid } = resource.metadata;
    const hub = this.hubs.find(namespace, spec.hubRef.name);
    if (!hub || hub.metadata.deletionTimestamp) {
      this.preparations.forget(uid);
      // A leftover pod would prevent the deletion of the claim.
      if (!context.dryRun) await this.installer.clean(resource);
      return hub ? conditions.noPod(spec.hubRef.name) : conditions.noHub(spec.hubRef.name);
    }
    const claimUID = await this.claimUID(hub);
    if (claimUID === undefined) {
      this.preparations.forgetFiles(uid);
      return conditions.noPod(spec.hubRef.name);
    }
    const reconcile = { resource, spec, hub, claimUID, context };
    if (context.forced && !context.dryRun) {
      this.verifying.add(uid);
      this.preparations.forget(uid);
    }
    const pod = this.installer.find(resource);
    if (isInstalled(reconcile) && !this.verifying.has(uid) && !(pod && isUnrecorded(resource, pod))) {
      this.preparations.forget(uid);
      return this.activate(reconcile);
    }
    if (!isAllowed(this.services.settings.communityRepositories, spec.repository))
      return conditions.notAllowed(spec.repository);
    if (context.dryRun)
      return stalled(
        'DryRun',
        `${spec.repository} would be downloaded at ${spec.ref}, checked and installed. Remove the annotation to apply it.`,
      );
    return pod ? this.follow(reconcile, pod) : this.prepare(reconcile);
  }

  /** Downloads and checks the repository, then starts the pod that installs it. */
  private async prepare(reconcile: Reconcile): Promise<Outcome> {
    const { resource, spec, hub, context } = reconcile;
    const { uid, namespace, name, generation } = resource.metadata;
    const workload = this.installer.workloadOf(hub);
    // From here on the files stay in memory until the pod has started, so it must be possible to start one.
    if (!workload) {
      this.preparations.forgetFiles(uid);
      return conditions.noPod(hub.metadata.name);
    }
    const token = await this.tokenOf(reconcile);
    if (typeof token === 'object') return token;
    const { category, repository, ref } = spec;
    const source = { codeHost: this.services.settings.codeHostUrl, repository, ref, category, token };
    const key = JSON.stringify([generation, token]);
    const onEnd = () => this.services.requeue(resource.kind, namespace, name);
    const prepare = () => this.preparations.prepare(resource.metadata, key, source, onEnd);
    let preparation = prepare();
    if (preparation.type === 'failed' && preparation.error instanceof TargetTaken) {
      if (this.targets.ownerOf(resource, preparation.error.target))
        return conditions.preparationFailed(preparation);
      this.preparations.forget(uid);
      preparation = prepare();
    }
    if (preparation.type === 'running') return conditions.downloading(spec);
    if (preparation.type === 'failed') {
      // Deletes the pod and Secrets of an installation that an earlier process of the operator began.
      await this.installer.clean(resource);
      return conditions.preparationFailed(preparation);
    }
    context.signal.throwIfAborted();
    return this.start(reconcile, preparation.package, workload);
  }

  private async start(
    { resource, spec, claimUID }: Reconcile,
    prepared: RepositoryPackage,
    workload: HubWorkload,
  ): Promise<Outcome> {
    const { uid } = resource.metadata;
    const { target, isFile, provides, files } = prepared;
    const digest = digestOf(files);
    try {
      if (spec.digest !== undefined && spec.digest !== digest) throw new DigestMismatch(spec.digest, digest);
      const parts = bundleOf(prepared);
      const owner = this.targets.reserve(resource, target);
      if (owner) throw new TargetTaken(target, owner.metadata.name);
      const { repository, ref } = spec;
      const former = resource.status?.target;
      const installation = {
        install: { repository, ref, target, isFile, digest, provides },
        remove: former === undefined || former === target ? [] : [former],
        claimUID,
      };
      await this.installer.start(resource, installation, parts, workload);
      this.preparations.forget(uid);
      return conditions.installing(target);
    } catch (error) {
      if (!(error instanceof RepositoryRefused)) throw error;
      if (error instanceof InstallRejected) this.targets.clearReservation(resource);
      return conditions.preparationFailed(this.preparations.refuse(uid, error));
    }
  }

  /** Converts the state of the installer pod to an outcome. */
  private async follow(reconcile: Reconcile, pod: Pod): Promise<Outcome> {
    const { resource, context } = reconcile;
    const installation = installationOf(pod);
    const install = installation?.install;
    const target = install?.target ?? 'hub-operator';
    if (pod.metadata.deletionTimestamp) return conditions.installing(target);
    const verdict = verdictOf(pod);
    const age = this.installer.ageOf(pod);
    const record = recordOf(resource, pod);
    if (record) {
      const isVerified = this.verifying.delete(resource.metadata.uid);
      // The installation is recorded even if it was for an earlier spec, since its files are on the volume.
      if (isVerified || !isRecorded(resource, record)) return conditions.installed(record);
      await this.installer.clean(resource);
      return conditions.installing(target);
    }
    if (verdict.result === 'running' && age < INSTALLER_TIMEOUT)
      return conditions.installing(target, verdict.message);
    // The failed pod stays as a record until the next attempt is due or the spec changes.
    const isCurrent = !context.forced && matchesSpec(reconcile, install ?? {}, installation?.claimUID);
    const rest = DOWNLOAD_REJECTED_RETRY - age;
    this.targets.clearReservation(resource);
    const { message = 'the pod has not ended' } = verdict;
    if (isCurrent && verdict.result === 'conflict' && rest > 0) return conditions.conflict(message, rest);
    if (isCurrent && verdict.result === 'failed' && rest > 0) return conditions.installFailed(message, rest);
    await this.installer.clean(resource);
    return conditions.installFailed(message, DEPENDENCY_REQUEUE);
  }

  /** Makes the hub load the files on its volume, and checks that it has loaded them. */
  private async activate({ resource, spec, hub, context }: Reconcile): Promise<Outcome> {
    const { activeDigest, digest = '', target = '', provides = [] } = resource.status ?? {};
    const isNew = activeDigest !== digest;
    if (context.dryRun)
      return isNew
        ? stalled('DryRun', `The hub would load /config/${target}. Remove the annotation to apply it.`)
        : ready('DryRun', 'Nothing would change.');
    this.targets.clearReservation(resource);
    await this.installer.clean(resource);
    if (spec.category === 'integration' && isNew && !this.isRestarted(hub)) {
      this.services.requeue('Hub', hub.metadata.namespace, hub.metadata.name);
      return conditions.restartPending(target);
    }
    const reached = await this.hubs.reach(hub.metadata.namespace, hub.metadata.name);
    if ('outcome' in reached) return reached.outcome;
    const activator = activators[spec.category];
    const { client } = reached;
    try {
      return await whileRunning(client, resource, async () => {
        let shown = await activator.activate(client, { provides, digest, isNew });
        if (shown.type === 'inactive' && !isNew)
          shown = await activator.activate(client, { provides, digest, isNew: true });
        if (shown.type === 'inactive') return conditions.notLoaded(shown.message);
        const left = shown.provides && { provides: shown.provides };
        const status = { phase: 'Installed', activeDigest: digest, ...left };
        return ready('RepositoryInstalled', shown.message, { status });
      });
    } catch (error) {
      return hubErrorOutcome(error, 'object');
    }
  }

  /** Reports whether the hub's pod was started for the integrations that are on the volume now. */
  private isRestarted(hub: Hub): boolean {
    const { namespace, name } = hub.metadata;
    const pod = this.services.cache.get(builtin.Pod.kind, namespace, objectNames(name).pod);
    return (
      pod?.metadata.annotations?.[operatorAnnotations.communityHash] === communityHash(this.services, hub)
    );
  }

  /**
   * The uid of the hub's volume claim.
   *
   * @returns undefined when there is no claim yet
   */
  private async claimUID(hub: Hub): Promise<string | undefined> {
    const { namespace } = hub.metadata;
    const { cache, applier } = this.services;
    const type = builtin.PersistentVolumeClaim;
    const claim = claimName(hub);
    // Only claims of the operator are watched.
    const found = cache.get(type.kind, namespace, claim) ?? (await applier.find(type, namespace, claim));
    return found?.metadata.uid;
  }

  private async tokenOf({ resource, spec }: Reconcile): Promise<string | undefined | Outcome> {
    if (!spec.tokenSecretRef) return undefined;
    const { name, key } = spec.tokenSecretRef;
    const { namespace } = resource.metadata;
    const reference = { namespace, hub: spec.hubRef.name, name, field: 'spec.tokenSecretRef' };
    const secret = await readNamedSecret(this.services, reference);
    const token = secret?.values.get(key)?.trim();
    return token ? token : conditions.noToken(name, secret && key);
  }
}

/** @param patterns repositories that the administrator allows; undefined if all are allowed */
function isAllowed(patterns: readonly string[] | undefined, repository: string): boolean {
  // The code host ignores the case of names.
  const name = repository.toLowerCase();
  return (
    patterns === undefined ||
    patterns.some((pattern) => name === pattern || (pattern.endsWith('/') && name.startsWith(pattern)))
  );
}

/** Reports whether the volume has the version in the spec, according to status. */
function isInstalled(reconcile: Reconcile): boolean {
  const { installedRepository, installedVersion, digest, claimUID } = reconcile.resource.status ?? {};
  const present = { repository: installedRepository, ref: installedVersion, digest };
  return digest !== undefined && matchesSpec(reconcile, present, claimUID);
}

/** Reports whether the version that a pod installs or has installed is the version in the spec. */
function matchesSpec(
  { spec, claimUID }: Reconcile,
  version: { readonly [field in 'repository' | 'ref' | 'digest']?: string | undefined },
  of: string | undefined,
): boolean {
  const isDigest = spec.digest === undefined || spec.digest === version.digest;
  return version.repository === spec.repository && version.ref === spec.ref && of === claimUID && isDigest;
}

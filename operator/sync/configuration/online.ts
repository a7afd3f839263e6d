import { timestamp } from '../../clock';
import type { HubClient } from '../../client/hub-client';
import { hubStartId } from '../../client/hub-start-id';
import type { Hub, HubConfiguration } from '../../kinds';
import { objectNames } from '../../kinds/object-names';
import { conditionOf } from '../../runtime/conditions';
import type { Outcome } from '../../runtime/outcome';
import type { ReconcileContext } from '../../runtime/sync-module';
import type { Services } from '../services';
import type { Accepted, AcceptedConfigurations, SentSettings } from './record/accepted-configuration';
import { isSameMarker } from './generate/configuration-content';
import { restartHeldBy } from './held-restart';
import { syncHttpSettings } from './load/http-settings';
import type { HubReturn } from './hub-return';
import type { LoadResult } from './load/hub-loader';
import type { LoadJobs, DesiredContent } from './load/load-jobs';
import { Outcomes, withHttp } from './record/conditions';
import type { PodReplacement } from './pod-replacement';
import {
  isRestartPublished,
  publishConfiguration,
  publishedConfiguration,
  publishWithoutRestart,
  type RestartHashes,
} from './record/publish';
import type { ReloadPolicy } from './load/reload-decision';
import { readMarker } from './load/verify-content';
import { startVerdict } from './start-verdict';

/** Brings a configuration into a hub that can be used. */
export class OnlineConfigurations {
  /** The resource that is reconciled when a client is connected again. */
  private readonly followed = new WeakMap<HubClient, string>();

  constructor(
    private readonly services: Pick<Services, 'cache' | 'applier' | 'secrets' | 'clock' | 'requeue'>,
    private readonly accepted: AcceptedConfigurations,
    private readonly pods: PodReplacement,
    private readonly loads: LoadJobs,
    private readonly hubReturn: HubReturn,
  ) {}

  async sync(
    desired: DesiredContent,
    hub: Hub,
    client: HubClient,
    context: ReconcileContext,
  ): Promise<Outcome> {
    this.followReconnects(desired.resource, client);
    const outcome = await this.syncContent(desired, hub, client, context);
    if (outcome.type !== 'Waiting') this.hubReturn.end(hub);
    return this.syncHttp(outcome, desired.policy, hub, client, context);
  }

  /**
   * Beside a configuration that cannot be generated: a trial of the settings has to be ended within minutes, and no change
   * waits for the hub any longer.
   */
  syncInvalid(
    outcome: Outcome,
    policy: Pick<ReloadPolicy, 'strategy'>,
    hub: Hub,
    client: HubClient,
    context: ReconcileContext,
  ): Promise<Outcome> {
    this.hubReturn.end(hub);
    return this.syncHttp(outcome, policy, hub, client, context);
  }

  private async syncHttp(
    outcome: Outcome,
    { strategy }: Pick<ReloadPolicy, 'strategy'>,
    hub: Hub,
    client: HubClient,
    { forced }: ReconcileContext,
  ): Promise<Outcome> {
    const accepted = await this.accepted.get(hub);
    if (!accepted || this.loads.isLoading(hub)) return outcome;
    const policy = {
      strategy,
      forced,
      // One restart at a time.
      mayRestart: !accepted.mustRestart,
      sent: accepted.sentSettings,
      remember: (sentSettings: SentSettings | undefined) =>
        this.accepted.set(hub, { ...accepted, sentSettings }),
    };
    return withHttp(outcome, await syncHttpSettings(client, accepted.files, policy));
  }

  /** A hub that reconnects may have been restarted, with other files or with pending sections. */
  private followReconnects(
    { kind, metadata: { namespace, name } }: HubConfiguration,
    client: HubClient,
  ): void {
    if (this.followed.get(client) === name) return;
    this.followed.set(client, name);
    client.connection.onReconnect(() => {
      if (this.followed.get(client) === name) this.services.requeue(kind, namespace, name);
    });
  }

  private async syncContent(
    desired: DesiredContent,
    hub: Hub,
    client: HubClient,
    context: ReconcileContext,
  ): Promise<Outcome> {
    const { resource, content } = desired;
    const { forced } = context;
    if (this.loads.isLoading(hub))
      return new Outcomes(resource, content, await this.accepted.get(hub)).loading();
    const accepted = await this.accepted.current(hub, forced);
    const outcomes = new Outcomes(resource, content, accepted);
    const last = this.loads.completed(desired, hub);
    const verdict = await startVerdict(this.services, hub.metadata.namespace, hub.metadata.name);
    const settled = !verdict && (await this.settled(desired, hub, client, accepted, last?.result));
    const isFinal = last && !forced && this.loads.isRecent(last);
    if (settled && (isFinal || last?.result.type !== 'failed')) return settled;
    if (verdict && isSameMarker(verdict.marker, content.marker) && !forced)
      return outcomes.checkFailed(verdict.message, false);
    if (await this.hasFailedToStart(desired, client, accepted))
      return outcomes.failedStart(accepted?.marker.configuration);
    const rejected = !forced && (await this.rejected(desired, client, accepted, last?.result));
    if (rejected) return outcomes.checkFailed(rejected, false);
    const known = isFinal && last.result;
    if (known) {
      const outcome = await this.known(desired, hub, client, known, outcomes);
      if (outcome) return outcome;
    }
    this.loads.start(desired, hub, client, accepted, verdict !== undefined);
    return outcomes.loading();
  }

  /** The hub came up in recovery mode with it before, and runs another one now. */
  private async hasFailedToStart(
    { content }: DesiredContent,
    client: HubClient,
    accepted: Accepted | undefined,
  ): Promise<boolean> {
    if (!accepted?.failedStart || !isSameMarker(accepted.failedStart.marker, content.marker)) return false;
    return !isSameMarker(await readMarker(client), content.marker);
  }

  /** The outcome for a hub that has the content; undefined: it has another one. */
  private async settled(
    desired: DesiredContent,
    hub: Hub,
    client: HubClient,
    accepted: Accepted | undefined,
    result: LoadResult | undefined,
  ): Promise<Outcome | undefined> {
    const { content, resource, policy } = desired;
    const { files, marker } = content;
    if (!accepted || !isSameMarker(accepted.marker, marker)) return undefined;
    if (!isSameMarker(await readMarker(client), marker)) return undefined;
    const startId = await hubStartId(client.connection);
    const current = startId === accepted.startId ? accepted : this.restarted(accepted, desired, startId);
    if (current !== accepted) await this.accepted.set(hub, current);
    const { pending, mustRestart } = current;
    const restart = pending.length > 0 && mustRestart && policy.strategy !== 'hot-reload';
    const written = { files, hash: marker.configuration };
    if (restart) await publishConfiguration(this.services, resource, written, content.restart);
    else await publishWithoutRestart(this.services, resource, written);
    const outcomes = new Outcomes(resource, content, current);
    if (pending.length === 0) {
      await this.accepted.recordLastGood(hub, current);
      this.pods.settled(hub);
      return outcomes.loaded(current.warnings);
    }
    if (restart) {
      await this.ensureRestart(hub, content.restart, startId);
      return outcomes.restarting(pending, restartHeldBy(this.services, resource, hub));
    }
    // Another strategy, or another process, decided to leave them: it is decided again.
    if (!result) return undefined;
    return result.type === 'failed'
      ? outcomes.reloadFailed(result.message, pending)
      : outcomes.restartNeeded(pending, policy);
  }

  /** A new start has loaded the pending sections. */
  private restarted(accepted: Accepted, { content }: DesiredContent, startId: string): Accepted {
    const time = timestamp(this.services.clock.now());
    return {
      ...accepted,
      startId,
      loaded: content.sections,
      pending: [],
      mustRestart: false,
      lastLoad: accepted.pending.length > 0 ? { method: 'restart', time } : accepted.lastLoad,
    };
  }

  /** The message of a rejection that is still true: nothing has changed since, for which another check could differ. */
  private async rejected(
    { resource, content }: DesiredContent,
    client: HubClient,
    accepted: Accepted | undefined,
    result: LoadResult | undefined,
  ): Promise<string | undefined> {
    const ready = conditionOf(resource, 'Ready');
    if (!accepted?.rejected || !isSameMarker(accepted.rejected, content.marker)) return undefined;
    if (result?.type === 'rejected' || ready?.reason !== 'CheckFailed') return undefined;
    if (resource.status?.configHash !== content.marker.configuration) return undefined;
    if (publishedConfiguration(this.services, resource)?.hash !== accepted.marker.configuration)
      return undefined;
    return (await hubStartId(client.connection)) === accepted.startId ? ready.message : undefined;
  }

  /** The outcome of a load that ended and need not be repeated. */
  private async known(
    { resource, content, policy }: DesiredContent,
    hub: Hub,
    client: HubClient,
    result: LoadResult,
    outcomes: Outcomes,
  ): Promise<Outcome | undefined> {
    const { name } = hub.metadata;
    switch (result.type) {
      case 'rejected':
        return outcomes.checkFailed(result.problem);
      case 'restart': {
        const isDecided = isRestartPublished(this.services, resource, content.restart);
        if (!isDecided || (await hubStartId(client.connection)) !== result.startId) return undefined;
        await this.ensureRestart(hub, content.restart, result.startId);
        return outcomes.restarting(result.because, restartHeldBy(this.services, resource, hub));
      }
      case 'loaded':
        if (result.newFiles) return outcomes.newFiles(result.newFiles);
        return result.pending.length > 0 ? outcomes.restartNeeded(result.pending, policy) : undefined;
      case 'failed':
        return undefined;
      case 'unseen': {
        if ((await hubStartId(client.connection)) !== result.startId) return undefined;
        if (policy.strategy === 'hot-reload') return outcomes.newPodNeeded();
        if (await this.pods.replace(hub, 'unseen')) return outcomes.restarting([]);
        const message = `The hub does not read the files of the ConfigMap ${objectNames(name).configuration}, also after its pod was replaced. Read the log of the pod.`;
        return outcomes.reloadFailed(message);
      }
    }
  }

  /** A pod that was started for this content before has the same template: nothing but its deletion restarts it. */
  private async ensureRestart(hub: Hub, restart: RestartHashes, startId: string): Promise<void> {
    if (this.pods.isPodOf(hub, restart)) await this.pods.replace(hub, startId);
  }
}

import type { HubClient } from '../../client/hub-client';
import { hubStartId } from '../../client/hub-start-id';
import type { Redact } from '../../client/redact';
import { errorOf, Stopping } from '../../errors';
import type { Hub, HubConfiguration } from '../../kinds';
import { objectNames } from '../../kinds/object-names';
import { REJECTED_WRITE_RETRY_INTERVAL, ROLLOUT_DEBOUNCE_LIMIT } from '../../limits';
import { conditionOf } from '../../runtime/conditions';
import type { Outcome } from '../../runtime/outcome';
import type { ReconcileContext } from '../../runtime/sync-module';
import { hubRedactor } from '../hub-secrets';
import { PerHub } from '../hub/per-hub';
import type { Services } from '../services';
import type { Accepted, AcceptedConfigurations } from './accepted';
import { type Content, isSameMarker } from './content';
import { Loader, type LoadResult } from './load';
import { syncHttpSettings } from './http-settings';
import { Outcomes, withHttp } from './outcomes';
import type { PodReplacement } from './pod-replacement';
import {
  isRestartPublished,
  publishConfiguration,
  publishedConfiguration,
  type RestartHashes,
} from './publish';
import type { ReloadPolicy } from './reload-decision';
import { readMarker } from './show';
import { startVerdict } from './start-verdict';

/** A load of a content into a hub, in progress or ended. */
interface Load {
  /** Of what is loaded, and how. */
  readonly key: string;
  result?: LoadResult;
  error?: Error;
  /** By the monotonic clock. */
  endedAt?: number;
}

export interface Wanted {
  readonly resource: HubConfiguration;
  readonly content: Content;
  readonly policy: ReloadPolicy;
}

/** Brings a configuration into a hub that can be used. A load outlives the reconcile that starts it, and requeues it. */
export class OnlineConfigurations {
  private readonly loader: Loader;
  private readonly loads: PerHub<Load>;
  /** The resource that is reconciled when a client is connected again. */
  private readonly followed = new WeakMap<HubClient, string>();
  /** Masks the values of the secrets of the last load. */
  private readonly redactors: PerHub<Redact>;
  /** Since when a restart is held back for changes that follow, by the monotonic clock. */
  private readonly heldSince: PerHub<number>;
  /** Settings of the web server that were sent, so that they are not sent for ever. */
  private readonly sentSettings: PerHub<string>;
  private readonly closing = new AbortController();

  constructor(
    private readonly services: Services,
    private readonly accepted: AcceptedConfigurations,
    private readonly pods: PodReplacement,
  ) {
    this.loader = new Loader(services, accepted);
    this.loads = new PerHub(services.cache);
    this.redactors = new PerHub(services.cache);
    this.heldSince = new PerHub(services.cache);
    this.sentSettings = new PerHub(services.cache);
  }

  /** Aborts what is in progress. The next process starts it again. */
  close(): void {
    this.closing.abort(new Stopping('the operator stops'));
  }

  async sync(wanted: Wanted, hub: Hub, client: HubClient, context: ReconcileContext): Promise<Outcome> {
    this.followReconnects(wanted.resource, client);
    const outcome = await this.syncContent(wanted, hub, client, context);
    return this.syncHttp(outcome, wanted.policy, hub, client, context);
  }

  /** Also beside a configuration that is invalid: a trial of the settings has to be ended within minutes. */
  async syncHttp(
    outcome: Outcome,
    { strategy }: Pick<ReloadPolicy, 'strategy'>,
    hub: Hub,
    client: HubClient,
    { forced }: ReconcileContext,
  ): Promise<Outcome> {
    const accepted = await this.accepted.get(hub);
    if (!accepted || this.isLoading(hub)) return outcome;
    // One restart at a time.
    const mayRestart = !accepted.mustRestart;
    const policy = { strategy, forced, mayRestart, sent: this.sentSettings.get(hub) };
    const { sent, ...result } = await syncHttpSettings(client, accepted.files, policy);
    if (sent !== undefined) this.sentSettings.set(hub, sent);
    if (result.condition?.reason === 'Applied') this.sentSettings.delete(hub);
    return withHttp(outcome, result);
  }

  /** A hub that comes back may have been restarted, with other files or with what waits for a restart. */
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
    wanted: Wanted,
    hub: Hub,
    client: HubClient,
    context: ReconcileContext,
  ): Promise<Outcome> {
    const { content, resource } = wanted;
    const outcomes = new Outcomes(resource, content.marker.configuration, this.services.clock.now());
    const load = this.loads.get(hub);
    if (this.isLoading(hub)) return outcomes.loading();
    const ended = load?.key === loadKey(wanted) ? load : undefined;
    if (ended?.error) {
      this.loads.delete(hub);
      throw ended.error;
    }
    const verdict = await startVerdict(this.services, hub.metadata.namespace, hub.metadata.name);
    const accepted = await this.accepted.get(hub);
    const settled = !verdict && (await this.settled(wanted, hub, client, accepted, ended?.result, outcomes));
    const isFinal = ended && !context.forced && this.isRecent(ended);
    if (settled && (isFinal || ended?.result?.type !== 'failed')) return settled;
    if (verdict && isSameMarker(verdict.marker, content.marker) && !context.forced)
      return outcomes.checkFailed(verdict.message, false);
    const rejected = !context.forced && (await this.rejected(wanted, client, accepted, ended?.result));
    if (rejected) return outcomes.checkFailed(rejected, false);
    const known = isFinal && ended.result;
    if (known) {
      const outcome = await this.known(wanted, hub, client, known, outcomes);
      if (outcome) return outcome;
    }
    this.start(wanted, hub, client, accepted, verdict !== undefined);
    return outcomes.loading();
  }

  /** The outcome for a hub that has the content; undefined: it has another one. */
  private async settled(
    { content, resource, policy }: Wanted,
    hub: Hub,
    client: HubClient,
    accepted: Accepted | undefined,
    result: LoadResult | undefined,
    outcomes: Outcomes,
  ): Promise<Outcome | undefined> {
    const { files, marker } = content;
    if (!accepted || !isSameMarker(accepted.marker, marker)) return undefined;
    if (!isSameMarker(await readMarker(client), marker)) return undefined;
    const startId = await hubStartId(client.connection);
    const isNewStart = startId !== accepted.startId;
    if (isNewStart)
      await this.accepted.set(hub, {
        ...accepted,
        startId,
        loaded: content.sections,
        pending: [],
        mustRestart: false,
      });
    const pending = isNewStart ? [] : accepted.pending;
    const restart = pending.length > 0 && accepted.mustRestart && policy.strategy !== 'hot-reload';
    const written = { files, hash: marker.configuration };
    await publishConfiguration(this.services, resource, written, restart ? content.restart : undefined);
    if (pending.length === 0) {
      this.pods.settled(hub);
      const isRestart = isNewStart || result?.type === 'restart';
      const method = isRestart ? 'restart' : result?.type === 'loaded' ? result.method : 'hot-reload';
      return outcomes.loaded(method, accepted.warnings);
    }
    if (restart) {
      await this.ensureRestart(hub, content.restart, startId);
      return outcomes.restarting(pending);
    }
    // Another strategy, or another process, decided to leave them: it is decided again.
    if (!result) return undefined;
    return result.type === 'failed'
      ? outcomes.reloadFailed(result.message, pending)
      : outcomes.restartNeeded(pending, policy);
  }

  /** The message of a rejection that is still true: nothing has changed since, for which another check could differ. */
  private async rejected(
    { resource, content }: Wanted,
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
    { resource, content, policy }: Wanted,
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
        return outcomes.restarting(result.because);
      }
      case 'loaded':
        if (result.newFiles) return outcomes.newFiles(result.newFiles);
        return result.pending.length > 0 ? outcomes.restartNeeded(result.pending, policy) : undefined;
      case 'failed':
        return undefined;
      case 'unseen': {
        if (policy.strategy === 'hot-reload') return outcomes.restartNeeded(['configuration.yaml'], policy);
        if (await this.pods.replace(hub, 'unseen')) return outcomes.restarting([]);
        const message = `The hub does not read the files of the ConfigMap ${objectNames(name).configuration}, also after its pod was replaced. Read the log of the pod.`;
        return outcomes.reloadFailed(message);
      }
    }
  }

  private isLoading(hub: Hub): boolean {
    const load = this.loads.get(hub);
    return load !== undefined && load.endedAt === undefined;
  }

  /** A rejection is final: another content, another start of the hub or a request of a person ends it. */
  private isRecent({ endedAt = 0, result }: Load): boolean {
    return (
      result?.type === 'rejected' || this.services.clock.monotonic() - endedAt < REJECTED_WRITE_RETRY_INTERVAL
    );
  }

  private start(
    wanted: Wanted,
    hub: Hub,
    client: HubClient,
    accepted: Accepted | undefined,
    fellBack: boolean,
  ): void {
    const { services } = this;
    const { resource, content, policy } = wanted;
    const load: Load = { key: loadKey(wanted) };
    this.loads.set(hub, load);
    const run = async () => {
      const redact = await this.redactor(hub);
      const isPodOf = (restart: RestartHashes) => this.pods.isPodOf(hub, restart);
      const isOutdated = () => this.isOutdated(wanted, hub);
      const assertWanted = () => this.assertWanted(wanted);
      const job = {
        resource,
        hub,
        client,
        content,
        accepted,
        policy,
        redact,
        fellBack,
        isPodOf,
        isOutdated,
        assertWanted,
      };
      return this.loader.load(job, this.closing.signal);
    };
    const end = (fields: Pick<Load, 'result' | 'error'>) => {
      Object.assign(load, fields, { endedAt: services.clock.monotonic() });
      services.requeue(resource.kind, resource.metadata.namespace, resource.metadata.name);
    };
    run().then(
      (result) => end({ result }),
      (error: unknown) => {
        end({ error: errorOf(error) });
        if (error instanceof Stopping) this.loads.delete(hub); // says nothing of the content
      },
    );
  }

  /** A pod that was started for this content before has the same template: nothing but its deletion restarts it. */
  private async ensureRestart(hub: Hub, restart: RestartHashes, startId: string): Promise<void> {
    if (this.pods.isPodOf(hub, restart)) await this.pods.replace(hub, startId);
  }

  /** Also of the former secrets: until the volume is refreshed, the hub quotes those. */
  private async redactor(hub: Hub): Promise<Redact> {
    const present = await hubRedactor(this.services, hub);
    const former = this.redactors.get(hub) ?? present;
    this.redactors.set(hub, present);
    return (text) => former(present(text));
  }

  /** A resource that was deleted or suspended meanwhile changes nothing any more. */
  private assertWanted({ resource }: Wanted): void {
    const { namespace, name, uid } = resource.metadata;
    const { cache } = this.services;
    const latest = cache.get<HubConfiguration>(resource.kind, namespace, name);
    const isGone = latest
      ? latest.metadata.uid !== uid || latest.metadata.deletionTimestamp !== undefined || latest.spec.suspend
      : cache.watches(resource.kind);
    if (isGone) throw new Stopping('the resource was deleted or suspended while it was being loaded');
  }

  /** In a burst of changes only the last one restarts the hub, but the burst does not hold a restart back for long. */
  private isOutdated({ resource }: Wanted, hub: Hub): boolean {
    const { cache, clock } = this.services;
    const { namespace, name, generation } = resource.metadata;
    const latest = cache.get<HubConfiguration>(resource.kind, namespace, name);
    const isOutdated = latest !== undefined && latest.metadata.generation !== generation;
    const since = this.heldSince.get(hub) ?? clock.monotonic();
    if (!isOutdated || clock.monotonic() - since >= ROLLOUT_DEBOUNCE_LIMIT) {
      this.heldSince.delete(hub);
      return false;
    }
    this.heldSince.set(hub, since);
    return true;
  }
}

const loadKey = ({ content, policy }: Wanted): string =>
  `${content.marker.configuration} ${content.marker.secrets} ${policy.strategy} ${policy.autoRestart}`;

import type { HubClient } from '../../client/hub-client';
import { hubStartId } from '../../client/hub-start-id';
import { errorOf, Stopping } from '../../errors';
import type { Hub, HubConfiguration } from '../../kinds';
import { operatorAnnotations } from '../../kinds/annotations';
import { objectNames } from '../../kinds/object-names';
import { REJECTED_WRITE_RETRY_INTERVAL } from '../../limits';
import { isConflict, isNotFound } from '../../runtime/api-client';
import { pathOf } from '../../runtime/objects';
import type { Outcome } from '../../runtime/outcome';
import type { ReconcileContext } from '../../runtime/sync-module';
import { builtin } from '../../runtime/types';
import { hubRedactor } from '../hub-secrets';
import { PerHub } from '../hub/per-hub';
import type { Services } from '../services';
import type { Accepted, AcceptedConfigurations } from './accepted';
import { type Content, isSameMarker } from './content';
import { Loader, type LoadResult } from './load';
import { syncHttpSettings } from './http-settings';
import { Outcomes, withHttp } from './outcomes';
import { isRestartPublished, publishConfiguration, type RestartHashes } from './publish';
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
  /** Why the pod of a hub was deleted last: once for each reason. */
  private readonly replaced: PerHub<string>;
  /** The resource that is reconciled when a client is connected again. */
  private readonly followed = new WeakMap<HubClient, string>();
  private readonly closing = new AbortController();

  constructor(
    private readonly services: Services,
    private readonly accepted: AcceptedConfigurations,
  ) {
    this.loader = new Loader(services, accepted);
    this.loads = new PerHub(services.cache);
    this.replaced = new PerHub(services.cache);
  }

  /** Aborts what is in progress. The next process starts it again. */
  close(): void {
    this.closing.abort(new Stopping('the operator stops'));
  }

  async sync(wanted: Wanted, hub: Hub, client: HubClient, context: ReconcileContext): Promise<Outcome> {
    this.followReconnects(wanted.resource, client);
    const outcome = await this.syncContent(wanted, hub, client, context);
    const accepted = await this.accepted.get(hub);
    if (!accepted || this.isLoading(hub)) return outcome;
    const { strategy } = wanted.policy;
    const policy = { strategy, forced: context.forced, mayRestart: outcome.type === 'Ready' };
    return withHttp(outcome, await syncHttpSettings(client, accepted.files, policy));
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
    if (verdict?.hash === content.marker.configuration) return outcomes.checkFailed(verdict.message, false);
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
      const method = result?.type === 'loaded' ? result.method : 'restart';
      return outcomes.loaded(method, accepted.warnings);
    }
    if (restart) {
      await this.ensureRestart(hub, resource, content.restart, startId);
      return outcomes.restarting(pending);
    }
    // Another strategy, or another process, decided to leave them: it is decided again.
    if (!result) return undefined;
    return result.type === 'failed'
      ? outcomes.reloadFailed(result.message, pending)
      : outcomes.restartNeeded(pending, policy);
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
        await this.ensureRestart(hub, resource, content.restart, result.startId);
        return outcomes.restarting(result.because);
      }
      case 'loaded':
        return result.pending.length > 0 ? outcomes.restartNeeded(result.pending, policy) : undefined;
      case 'failed':
        return undefined;
      case 'unseen': {
        if (policy.strategy === 'hot-reload') return outcomes.restartNeeded(['configuration.yaml'], policy);
        if (await this.replacePod(hub, resource, 'unseen')) return outcomes.restarting([]);
        const message = `The hub does not read the files of the ConfigMap ${objectNames(name).configuration}, also after its pod was replaced. Read the log of the pod.`;
        return outcomes.reloadFailed(message);
      }
    }
  }

  private isLoading(hub: Hub): boolean {
    const load = this.loads.get(hub);
    return load !== undefined && load.endedAt === undefined;
  }

  private isRecent({ endedAt = 0 }: Load): boolean {
    return this.services.clock.monotonic() - endedAt < REJECTED_WRITE_RETRY_INTERVAL;
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
      const redact = await hubRedactor(services, hub);
      const job = { resource, hub, client, content, accepted, policy, redact, fellBack };
      return this.loader.load(job, this.closing.signal);
    };
    const end = (fields: Pick<Load, 'result' | 'error'>) => {
      Object.assign(load, fields, { endedAt: services.clock.monotonic() });
      services.requeue(resource.kind, resource.metadata.namespace, resource.metadata.name);
    };
    run().then(
      (result) => end({ result }),
      (error: unknown) => end({ error: errorOf(error) }),
    );
  }

  /** A pod that was started for this content before has the same template: nothing but its deletion restarts it. */
  private async ensureRestart(
    hub: Hub,
    resource: HubConfiguration,
    restart: RestartHashes,
    startId: string,
  ): Promise<void> {
    if (this.isPodOf(hub, restart)) await this.replacePod(hub, resource, startId);
  }

  private isPodOf(
    { metadata: { namespace, name } }: Hub,
    { configuration, secrets }: RestartHashes,
  ): boolean {
    const pod = this.services.cache.get(builtin.Pod.kind, namespace, objectNames(name).pod);
    const annotations = pod?.metadata.annotations ?? {};
    return (
      annotations[operatorAnnotations.configHash] === configuration &&
      annotations[operatorAnnotations.secretsHash] === secrets
    );
  }

  /** A backup that was restored, say, has replaced the links to the mounted files. False: this was done before. */
  private async replacePod(hub: Hub, resource: HubConfiguration, why: string): Promise<boolean> {
    const { cache, cluster, log } = this.services;
    const { namespace, name } = hub.metadata;
    const pod = cache.get(builtin.Pod.kind, namespace, objectNames(name).pod);
    const uid = pod?.metadata.uid;
    if (!pod || uid === undefined || pod.metadata.deletionTimestamp) return true;
    if (this.replaced.get(hub) === why) return false;
    this.replaced.set(hub, why);
    log.warn(
      { kind: resource.kind, namespace, name: resource.metadata.name, pod: pod.metadata.name },
      'deleting the pod of a hub that does not read its mounted configuration',
    );
    try {
      await cluster.request({
        method: 'DELETE',
        path: pathOf(builtin.Pod, namespace, pod.metadata.name),
        body: { apiVersion: 'v1', kind: 'DeleteOptions', preconditions: { uid } },
      });
    } catch (error) {
      if (!isNotFound(error) && !isConflict(error)) throw error; // it is gone already
    }
    return true;
  }
}

const loadKey = ({ content, policy }: Wanted): string =>
  `${content.marker.configuration} ${content.marker.secrets} ${policy.strategy} ${policy.autoRestart}`;

import { Stopping } from './base/errors';
import type { Clock } from './base/clock';
import { DeadlineExceeded, withDeadline } from './base/deadline';
import { kinds } from './kinds';
import { duplicateMessage } from './kinds/duplicate-id';
import { finalizerOf, userAnnotations } from './kinds/annotations';
import { API_GROUP, API_VERSION } from './kinds/group';
import type { KindDefinition } from './kinds/kind';
import { STOP_DEADLINE, STOP_RECONCILE_GRACE } from './base/limits';
import type { Logger } from './base/log';
import { observeMemoryLimits } from './process/memory-metrics';
import type { Metrics } from './process/metrics';
import { observeResources } from './process/resource-metrics';
import { Applier } from './runtime/apply';
import { FIELD_MANAGER, ObjectOwnership } from './runtime/object-ownership';
import { Cache, hubKey } from './runtime/cache';
import { type ControlledKind, Controller } from './runtime/controller';
import { EventWriter } from './runtime/event-writer';
import { EventRecorder } from './runtime/events';
import { Finalizer } from './runtime/finalizer';
import { LeaderElection } from './runtime/leader';
import { type ClusterObject, type ResourceType } from './runtime/objects';
import { type ObjectKey, parseObjectKey } from './runtime/object-key';
import { Reconciler } from './runtime/reconciler';
import type { CustomResource } from './kinds/resource';
import { SecretReader } from './runtime/secrets';
import { withoutForeignConditions } from './runtime/status';
import type { Change } from './runtime/store';
import { OperatorAdapter } from './process/operator-adapter';
import { BoundedTexts } from './process/texts/bounded-texts';
import { ApiClient, type ApiClientOptions } from './runtime/api-client';
import { builtin, type Builtin } from './runtime/types';
import type { Settings } from './process/settings';
import { type SyncModules, syncModules } from './sync';
import { textProgram } from './text-program';
import { Webhook } from './webhook';
import { clusterState } from './webhook/cluster-state';

/** Why the operator ended: it was stopped, or it lost the lease. */
type End = 'stopped' | 'lost';

/** The lease is renewed over a separate connection, with a request timeout shorter than the renew deadline. */
const LEASE_REQUEST_TIMEOUT = 5_000;

/**
 * Registers a watch for every kind; the handlers pass changes to the controller, which reconciles resources with the
 * sync module of their kind. Watches run from the start, so that a standby replica has a warm cache; only the leader
 * reconciles.
 */
export class HubOperator extends OperatorAdapter {
  readonly ended: Promise<End>;
  private readonly cluster: ApiClient;
  private readonly cache: Cache;
  private readonly applier: Applier;
  private readonly secrets: SecretReader;
  private readonly controller: Controller;
  private readonly events: EventRecorder;
  private readonly modules: SyncModules;
  private readonly leader: LeaderElection | undefined;
  private readonly webhook: Webhook | undefined;
  private readonly texts: BoundedTexts;
  /** Aborted when this process may no longer write. */
  private readonly leadership = new AbortController();
  private end!: (end: End) => void;

  constructor(
    private readonly settings: Settings,
    private readonly clock: Clock,
    private readonly log: Logger,
    private readonly metrics: Metrics,
  ) {
    super(log);
    this.ended = new Promise((resolve) => (this.end = resolve));
    this.cluster = this.connect({
      leaderSignal: this.leadership.signal,
      assertLeader: () => this.leader?.assertLeader(),
    });
    this.cache = this.createCache();
    this.observeProcess();
    this.applier = new Applier(this.cluster, this.cache, API_GROUP, (owner, message) =>
      this.events.record(owner, { type: 'Warning', reason: 'ImmutableReplaced', message }),
    );
    this.secrets = new SecretReader(this.cluster, this.cache, (...secret) =>
      this.applier.settle(builtin.Secret, ...secret),
    );
    const eventWriter = new EventWriter(this.cluster, clock, settings.podName);
    this.events = new EventRecorder(eventWriter, clock, log, () => this.controller.queue.isBusy);
    this.texts = new BoundedTexts({ clock, log, program: textProgram });
    this.modules = this.createModules();
    this.controller = this.createController();
    this.leader = settings.leaderElection ? this.candidate() : undefined;
    metrics.setLeader(settings.leaseName, false);
    this.webhook = settings.webhook === 'off' ? undefined : this.createWebhook();
  }

  /** Starts the watches and, when this process becomes the leader, the reconciles. `ended` resolves at the end. */
  override async start(): Promise<void> {
    await super.start();
    await this.webhook?.start();
    void this.cache.waitForCacheSync().then(() => this.lead());
  }

  /** Finishes the work in progress, releases the lease and closes everything. */
  override async stop(): Promise<void> {
    await this.shutDown();
    await this.leader
      ?.release()
      .catch((error: unknown) => this.log.warn({ error }, 'failed to release lease'));
    this.cluster.close();
    this.end('stopped');
  }

  /** Why this process must be restarted, one sentence per problem. An empty list means that it is alive. */
  livenessErrors(): string[] {
    return [
      ...this.cache.stuck().map((kind) => `the watch of ${kind} is stuck`),
      ...this.controller.livenessErrors(),
    ];
  }

  /** Why this process is not ready yet, one sentence per cause. An empty list means that it is ready. */
  readinessErrors(): string[] {
    return this.cache
      .unsynced()
      .map(
        ({ kind, lastError = 'no answer' }) =>
          `${kind} is not listed yet (check that its CRD is installed and the role allows list): ${lastError}`,
      );
  }

  protected override async init(): Promise<void> {
    for (const definition of kinds)
      await this.watchChanges(definition, (change) => this.controller.onResource(definition, change));
    this.watchReferenced('Secret');
    this.watchReferenced('ConfigMap');
    for (const kind of new Set(kinds.flatMap((definition) => definition.owns ?? []))) {
      if (kind !== 'Secret' && kind !== 'ConfigMap') this.watchOwned(kind as Builtin);
    }
  }

  protected override watchKind(
    definition: KindDefinition,
    onChange: (change: Change<CustomResource>) => void,
  ): void {
    this.cache.watch<CustomResource>(typeOf(definition), {
      transform: withoutForeignConditions,
      indexBy: (resource) => hubKey(resource.metadata.namespace, definition.hubName(resource)),
      onChange,
    });
  }

  /**
   * Watches the metadata of all Secrets and ConfigMaps; their contents are read on demand. Of the
   * annotations, only the operator's own are cached, such as the decision to restart a hub.
   */
  private watchReferenced(kind: 'Secret' | 'ConfigMap'): void {
    this.cache.watch<ClusterObject>(builtin[kind], {
      metadataOnly: true,
      annotationPrefix: `${API_GROUP}/`,
      onChange: (change) => {
        if (change.type === 'deleted' && kind === 'Secret') this.secrets.forget(change.object);
        this.controller.onReferenced(kind, change.object);
        this.onOwned(change);
      },
    });
  }

  private watchOwned(kind: Builtin): void {
    this.cache.watch<ClusterObject>(builtin[kind], {
      labelSelector: `app.kubernetes.io/managed-by=${FIELD_MANAGER}`,
      onChange: (change) => this.onOwned(change),
    });
  }

  private onOwned(change: Change<ClusterObject>): void {
    if (change.type === 'deleted') this.applier.forget(change.object);
    this.controller.onOwned(change);
  }

  private async lead(): Promise<void> {
    if (this.leader && !(await this.leader.acquire())) return;
    this.metrics.setLeader(this.settings.leaseName, true);
    this.log.info({ identity: this.leader?.identity }, 'became leader');
    this.webhook?.lead();
    await this.applier.finishReplacements(this.cache, (error) =>
      this.log.warn({ error }, 'failed to finish the replacement of an immutable object'),
    );
    this.controller.queue.start();
    if (!this.leader || (await this.leader.renew()) === 'stopped') return;
    this.log.error({}, 'lost lease, stopping at once');
    this.leadership.abort(new Stopping('this process is no longer the leader'));
    await this.shutDown();
    this.end('lost');
  }

  private async shutDown(): Promise<void> {
    if (this.leadership.signal.aborted) void this.controller.queue.stop();
    else await this.atMost(STOP_DEADLINE, this.finish());
    this.leadership.abort(new Stopping('the operator is stopping'));
    this.leader?.stop();
    this.metrics.setLeader(this.settings.leaseName, false);
    this.modules.close();
    await Promise.all([this.webhook?.stop(), this.cache.stop()]);
    this.texts.close();
  }

  /** Drains hub writes first, so that status records their result. */
  private async finish(): Promise<void> {
    await this.modules.drain();
    await this.atMost(STOP_RECONCILE_GRACE, this.controller.queue.stop());
    await this.events.drain();
  }

  /** Resolves when `work` has ended, or after `delay` milliseconds. */
  private async atMost(delay: number, work: Promise<void>): Promise<void> {
    await withDeadline({ clock: this.clock, delay }, () => work).catch((error: unknown) => {
      if (!(error instanceof DeadlineExceeded)) throw error;
    });
  }

  private connect(options: Partial<ApiClientOptions>): ApiClient {
    const host = new URL(this.kubeConfig.getCurrentCluster()?.server ?? 'http://none').host;
    return new ApiClient(this.kubeConfig, {
      clock: this.clock,
      onResponse: (method, status) => this.metrics.countRequest(method, status, host),
      ...options,
    });
  }

  private createCache(): Cache {
    const { cluster, clock, log, metrics, settings } = this;
    return new Cache({
      cluster,
      clock,
      log,
      namespaces: settings.watchNamespaces,
      namespaceSelector: settings.watchNamespaceSelector,
      freeze: settings.freezeCache,
      onFailure: (type) => metrics.countWatchFailure(type.kind),
    });
  }

  /** Adds the metrics that are computed at each scrape. */
  private observeProcess(): void {
    this.metrics.observeCache(() => this.cache.sizes());
    observeMemoryLimits(this.metrics);
    observeResources(
      this.metrics,
      kinds.map(({ kind }) => kind),
      (kind) => this.cache.list(kind),
    );
  }

  private createModules(): SyncModules {
    const { cluster, cache, applier, secrets, clock, log, metrics, settings, texts } = this;
    return syncModules({
      cluster,
      cache,
      applier,
      secrets,
      clock,
      log,
      metrics,
      settings,
      texts,
      assertLeader: () => {
        this.leadership.signal.throwIfAborted();
        this.leader?.assertLeader();
      },
      requeue: (...work: Parameters<Controller['requeue']>) => this.controller.requeue(...work),
    });
  }

  private createController(): Controller {
    const { clock, metrics, settings } = this;
    return new Controller({
      clock,
      metrics,
      kinds: this.controlledKinds(),
      read: (key) => this.read(key),
      waitForNamespace: (namespace) => this.cache.waitForNamespace(namespace),
      workers: settings.workers,
      workersPerHub: settings.workersPerHub,
      ownership: new ObjectOwnership(API_GROUP),
    });
  }

  private candidate(): LeaderElection {
    const { podNamespace: namespace, podName, leaseName } = this.settings;
    const cluster = this.connect({ timeout: LEASE_REQUEST_TIMEOUT });
    return new LeaderElection({
      cluster,
      clock: this.clock,
      log: this.log,
      namespace,
      leaseName,
      podName,
    });
  }

  private createWebhook(): Webhook {
    const { cache, clock, cluster, controller, log, metrics, secrets, settings } = this;
    const state = clusterState({ cache, controller, secrets });
    return new Webhook({ settings, cluster, clock, log, metrics, state });
  }

  private controlledKinds(): ReadonlyMap<string, ControlledKind> {
    return new Map(
      kinds.map((definition) => [definition.kind, { definition, reconciler: this.reconciler(definition) }]),
    );
  }

  private reconciler(definition: KindDefinition): Reconciler<CustomResource> {
    const { kind } = definition;
    const type = typeOf(definition);
    return new Reconciler({
      type,
      cluster: this.cluster,
      clock: this.clock,
      log: this.log,
      events: this.events,
      finalizer: new Finalizer(this.cluster, type, finalizerOf(kind)),
      module: this.modules.of(kind),
      read: (key) => this.read(key),
      conflictingOwner: (resource) => this.controller.conflictingOwner(resource),
      othersWithIdentity: (resource) =>
        this.controller.othersWithIdentity(definition, resource).flatMap((key) => this.read(key) ?? []),
      duplicateMessage: (resource, owner) => duplicateMessage(definition, resource, owner),
      recordWrite: (object) => this.cache.recordWrite(object),
      recordRead: (object, known) => this.cache.recordRead(object, known),
      annotations: { reconcileRequestedAt: userAnnotations.reconcileAt, dryRun: userAnnotations.dryRun },
      leaderSignal: this.leadership.signal,
      isBusy: () => this.controller.queue.isBusy,
    });
  }

  private read(key: ObjectKey): CustomResource | undefined {
    const { kind, namespace, name } = parseObjectKey(key);
    return this.cache.get<CustomResource>(kind, namespace, name);
  }
}

const typeOf = ({ kind, plural }: KindDefinition): ResourceType => ({
  group: API_GROUP,
  version: API_VERSION,
  plural,
  kind,
});

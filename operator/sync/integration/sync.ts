import type { ConfigEntry } from '../../client/connection/flow-step';
import type { HubClient } from '../../client/hub-client';
import type { Redact } from '../../client/connection/redact';
import { type Hub, integration as definition } from '../../kinds';
import { defaulted } from '../../kinds/schema';
import { API_NOT_LOADED_REQUEUE, DEPENDENCY_REQUEUE, FINALIZER_TRY } from '../../base/limits';
import { conditionOf } from '../../runtime/conditions';
import type { EventSpec } from '../../runtime/event-spec';
import { SecretRefused } from '../../runtime/named-secret';
import { type Outcome, ready, stalled, type Waiting, waiting } from '../../runtime/outcome';
import type { ReconcileContext } from '../../runtime/sync-module';
import { hashKey } from '../objects/hash-key';
import { ObjectSync } from '../objects/object-sync';
import { shouldDelete } from '../objects/removal';
import type { Services } from '../services';
import { changedAnswers, hashAnswers, recorded } from './answer-hashes';
import { type Answers, resolveAnswers } from './answers';
import { acquire, adoptable } from './entry/acquisition';
import { abortFlow, endCreation, leftEntries } from './entry/interrupted';
import { appliedAnswers, EntryMaintenance } from './entry/maintenance';
import { removeEntry } from './entry/removal';
import { forgottenEntry } from './entry/status';
import { NO_CANDIDATES } from './entry/candidates';
import {
  type IntegrationContext,
  type IntegrationContexts,
  type IntegrationReconcile,
  type IntegrationResource,
  makesEntry,
} from './integration-context';
import { recordResult } from './operation-results';
import { admit, domainBusy, inProgress, withStatus } from './progress';

/** The entry that the hub has under the id in status. */
interface SeenEntry {
  readonly entry: ConfigEntry | undefined;
}

/**
 * Reconciles integrations (rules.md, "Integrations"). An entry is adopted or created by a config flow,
 * changed answers are applied to it, and its state is reported. Flows run as operations: a reconcile starts
 * one and returns, and its end requeues the resource.
 */
export class IntegrationSync extends ObjectSync<IntegrationResource, IntegrationReconcile, SeenEntry> {
  readonly isReferenced = true;
  private readonly maintenance: EntryMaintenance;

  constructor(
    private readonly services: Pick<
      Services,
      'cluster' | 'cache' | 'applier' | 'secrets' | 'clock' | 'metrics' | 'settings'
    >,
    private readonly contexts: IntegrationContexts,
  ) {
    super();
    this.maintenance = new EntryMaintenance(services);
  }

  protected override recorded(
    outcome: Outcome,
    { status }: IntegrationResource,
    _client: HubClient,
    { forced, dryRun }: ReconcileContext,
  ): Outcome {
    const isCleared = forced && !dryRun && status?.rejectedHash !== undefined;
    return isCleared ? withStatus(outcome, { rejectedHash: null }) : outcome;
  }

  protected override async begin(
    resource: IntegrationResource,
    client: HubClient,
    context: ReconcileContext,
  ): Promise<IntegrationReconcile | Outcome> {
    const spec = defaulted(definition.spec, resource.spec);
    const { namespace } = resource.metadata;
    const resolved = await resolveAnswers(this.services, namespace, spec);
    if ('invalid' in resolved) return stalled('InvalidSpec', resolved.invalid);
    if ('missing' in resolved) return waiting(resolved.reason, resolved.missing, DEPENDENCY_REQUEUE);
    const { answers } = resolved;
    const home = this.services.cache.get<Hub>('Hub', namespace, spec.hubRef.name)!;
    const key = await hashKey(this.services, home, context);
    if (key === undefined) return waiting('ConfigFlowInProgress', 'The key of the hashes is created.', 0);
    const hub = this.contexts.of(client, resource);
    await client.events.watch();
    const hashes = hashAnswers(answers, key);
    const cached = cachedFor(hub, resource, answers, context);
    return {
      resource,
      spec,
      status: statusFor(resource, context),
      client,
      clock: this.services.clock,
      context,
      hub,
      cached,
      answers,
      hashes,
      configHash: recorded(hashes, key).configHash,
      key,
      entries: context.forced ? await client.configEntries.refreshed() : await client.configEntries.all(),
      discovered: await client.flowsInProgress.discovered(spec.domain),
      version: home.status?.version ?? '',
      volume: home.status?.volumeID,
      draining: this.contexts.isDraining,
      previous: conditionOf(resource, 'Ready'),
    };
  }

  protected override async follow(reconcile: IntegrationReconcile): Promise<Outcome | undefined> {
    const { cached, configHash, key } = reconcile;
    const { operation } = cached;
    if (!operation) return undefined;
    if (operation.end) return recordResult(reconcile, operation, operation.end);
    if (operation.sent.key === key && operation.sent.configHash !== configHash) operation.stop();
    admit(reconcile, operation);
    return inProgress(reconcile, operation);
  }

  /**
   * Reports whether the present volume has the entry too. Ids of entries are random, so an entry with that id
   * is the same, for example on a copy of the volume.
   */
  protected override async isStillThere({ client, status }: IntegrationReconcile): Promise<boolean> {
    return (await client.configEntries.refreshed()).has(status.entryID ?? '');
  }

  protected override forgetObject(reconcile: IntegrationReconcile): Outcome {
    return inProgress(reconcile, undefined, 0, forgottenEntry(reconcile));
  }

  protected override observe({ entries, status }: IntegrationReconcile): Promise<SeenEntry> {
    return Promise.resolve({ entry: entries.get(status.entryID ?? '') });
  }

  /** Compares without changes. The message has only names of answers, never values. */
  protected override async dryRun(reconcile: IntegrationReconcile, { entry }: SeenEntry): Promise<Outcome> {
    const { hashes, spec } = reconcile;
    const remove = 'Remove the annotation to apply it.';
    if (!entry) {
      const present = await adoptable(reconcile);
      const ids = Object.keys(hashes).sort();
      const would = present
        ? `Would adopt the ${spec.domain} entry “${present.title}”.`
        : `Would run the config flow of ${spec.domain}${ids.length > 0 ? ` with ${ids.join(', ')}` : ''}.`;
      return stalled('DryRun', `${would} ${remove}`);
    }
    const changes = [
      ...changedAnswers(appliedAnswers(reconcile), hashes),
      ...(spec.title !== undefined && spec.title !== entry.title ? ['title'] : []),
      ...(spec.enabled !== (entry.disabled_by === null) ? ['enabled'] : []),
    ];
    return changes.length === 0
      ? ready('DryRun', 'Nothing would be sent: the entry is as specified.')
      : stalled('DryRun', `Would apply ${changes.join(', ')}. ${remove}`);
  }

  protected override async acquire(reconcile: IntegrationReconcile): Promise<Outcome | undefined> {
    return reconcile.status.entryID === undefined ? acquire(reconcile) : undefined;
  }

  protected override ensure(reconcile: IntegrationReconcile): Promise<Outcome> {
    return this.maintenance.maintain(reconcile, reconcile.status.entryID!);
  }

  /**
   * Removes the entry in status. Entries that an interrupted flow may have created are only named in an
   * event.
   */
  override async remove(
    resource: IntegrationResource,
    client: HubClient,
  ): Promise<readonly EventSpec[] | Waiting> {
    // The values of Secrets are read, so that they are redacted in messages of the hub.
    const spec = defaulted(definition.spec, resource.spec);
    const hub = this.contexts.of(client, resource);
    const cached = hub.of(resource);
    await resolveAnswers(this.services, resource.metadata.namespace, spec).then(
      (resolved) => 'answers' in resolved && cached.secrets.remember(resolved.answers.secrets),
      (error: unknown) => {
        if (!(error instanceof SecretRefused)) throw error;
      },
    );
    const { entryID, pendingFlow } = resource.status ?? {};
    const made = cached.operation?.madeEntry?.entry_id ?? pendingFlow?.madeID;
    const isInterrupted =
      pendingFlow && makesEntry(pendingFlow) && made === undefined && !pendingFlow.replaces;
    if (pendingFlow && !isInterrupted) await abortFlow(client, pendingFlow);
    const other = isInterrupted ? hub.runningFlow(resource) : undefined;
    if (other) return domainBusy(other);
    const ended = isInterrupted ? await endCreation(resource, client, hub) : NO_CANDIDATES;
    const left = [...(ended.made ? [ended.made] : []), ...ended.unclear, ...ended.later];
    const isOrphan = resource.spec.deletionPolicy === 'Orphan';
    const former = pendingFlow?.replaces === entryID ? undefined : pendingFlow?.replaces;
    const ids = [...(isOrphan ? [] : [made, former]), ...(shouldDelete(resource) ? [entryID] : [])];
    const { clock } = this.services;
    for (const id of new Set(ids))
      if (id !== undefined && !removeEntry({ client, clock, hub, resource }, id))
        return waiting('ConfigFlowInProgress', 'The entry is being removed from the hub.', FINALIZER_TRY);
    return left.length > 0 ? [leftEntries(left)] : [];
  }

  /**
   * Cancels the operation of the resource before its next request.
   *
   * @returns Waiting while the operation still runs, or while status lacks the entry that it made: a successor
   * knows only the status
   */
  release(resource: IntegrationResource, client: HubClient): Waiting | undefined {
    const { operation } = this.contexts.of(client, resource).of(resource);
    if (!operation) return undefined;
    const message = 'The flow is being ended in the hub.';
    if (!operation.end) {
      operation.stop();
      return waiting('ConfigFlowInProgress', message, API_NOT_LOADED_REQUEUE);
    }
    const madeID = operation.madeEntry?.entry_id;
    const { pendingFlow } = resource.status ?? {};
    if (madeID === undefined || pendingFlow?.madeID === madeID) return undefined;
    return waiting('ConfigFlowInProgress', message, 0, {
      status: { pendingFlow: { ...pendingFlow, madeID } },
    });
  }

  isWorking(resource: IntegrationResource, client: HubClient): boolean {
    return this.contexts.of(client, resource).of(resource).operation !== undefined;
  }

  override objectOf(resource: IntegrationResource): string | undefined {
    const { entryID, pendingFlow } = resource.status ?? {};
    const id = shouldDelete(resource) ? entryID : undefined;
    if (id !== undefined) return `entry ${id}`;
    return pendingFlow && 'config flow, or the entry that it made,';
  }

  override forget(resource: IntegrationResource, client: HubClient): void {
    this.contexts.of(client, resource).forget(resource);
  }

  /** Returns the function that masks present and former values of Secrets. */
  redactorOf(resource: IntegrationResource, client: HubClient): Redact {
    const { secrets } = this.contexts.of(client, resource).of(resource);
    // The title in the spec is not secret, and has to be comparable with the title of the entry.
    return (text) => (text === resource.spec.title ? text : secrets.redact(client.rest.redact(text)));
  }
}

/** The status of a resource. A forced reconcile does not see which answers were rejected. */
function statusFor({ status = {} }: IntegrationResource, { forced }: ReconcileContext) {
  const { rejectedHash: _, ...others } = status;
  return forced ? others : status;
}

/** The state of a resource between reconciles. A forced reconcile begins without its failures. */
function cachedFor(
  hub: IntegrationContext,
  resource: IntegrationResource,
  { secrets }: Answers,
  { forced }: ReconcileContext,
) {
  const cached = hub.of(resource);
  cached.secrets.remember(secrets);
  if (forced) {
    cached.failures.clear();
    cached.cuts = undefined;
    cached.confirmation = undefined;
  }
  return cached;
}

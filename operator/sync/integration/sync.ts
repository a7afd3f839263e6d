import { HubFailed, HubRejected } from '../../client/errors';
import type { HubClient } from '../../client/hub-client';
import { redactor } from '../../client/redact';
import { errorOf } from '../../errors';
import { type Hub, integration as definition } from '../../kinds';
import { defaulted } from '../../kinds/schema';
import { API_NOT_LOADED_REQUEUE, DEPENDENCY_REQUEUE, FINALIZER_TRY } from '../../limits';
import { conditionOf } from '../../runtime/conditions';
import type { EventSpec } from '../../runtime/event-spec';
import { type Outcome, stalled, type Waiting, waiting } from '../../runtime/outcome';
import type { ReconcileContext } from '../../runtime/sync-module';
import type { ChildModule } from '../child';
import { hubErrorOutcome } from '../hub-errors';
import type { Services } from '../services';
import { domainBusy, EntryAcquisition, type InterruptedFlow, leftEntries } from './acquisition';
import { hashAnswers, recorded } from './answer-hashes';
import { resolveAnswers } from './answers';
import { dryRun } from './dry-run';
import { hashKey } from './hash-key';
import type { HubContexts, IntegrationResource, Removal } from './hub-context';
import { endTrial } from './interrupted-trial';
import { abortFlow } from './interrupted-update';
import { EntryMaintenance } from './maintenance';
import { OperationResults } from './operation-results';
import { isTrial, mayMakeEntry } from './pending-flow';
import { inProgress } from './progress';
import { redacted } from './redacted-outcome';
import type { IntegrationReconcile } from './integration-reconcile';

/**
 * Reconciles integrations (rules.md, "Integrations"): an entry is adopted or made by a config flow, changed answers are
 * applied to it, and its state is reported. Flows run as operations: a reconcile starts one and returns, and its end
 * queues the resource again.
 */
export class IntegrationSync implements ChildModule<IntegrationResource> {
  private readonly acquisition: EntryAcquisition;
  private readonly maintenance: EntryMaintenance;
  private readonly results: OperationResults;

  constructor(
    private readonly services: Pick<
      Services,
      'cluster' | 'cache' | 'applier' | 'secrets' | 'clock' | 'metrics' | 'settings'
    >,
    private readonly contexts: HubContexts,
  ) {
    this.acquisition = new EntryAcquisition(services);
    this.maintenance = new EntryMaintenance(services);
    this.results = new OperationResults(services, this.acquisition);
  }

  async sync(resource: IntegrationResource, client: HubClient, context: ReconcileContext): Promise<Outcome> {
    const spec = defaulted(definition.spec, resource.spec);
    const { namespace } = resource.metadata;
    const resolved = await resolveAnswers(this.services, namespace, spec);
    if ('invalid' in resolved) return stalled('InvalidSpec', resolved.invalid);
    if ('missing' in resolved) return waiting(resolved.reason, resolved.missing, DEPENDENCY_REQUEUE);
    const { answers } = resolved;
    const key = await hashKey(
      this.services,
      this.services.cache.get<Hub>('Hub', namespace, spec.hubRef.name)!,
      context,
    );
    if (key === undefined) return waiting('ConfigFlowInProgress', 'The key of the hashes is created.', 0);
    const hub = this.contexts.of(client, resource);
    await hub.watch();
    const hashes = hashAnswers(answers, key);
    const cached = hub.of(resource);
    cached.secrets = withFormer(cached.secrets, answers.secrets);
    const mask = redactor(cached.secrets);
    const reconcile: IntegrationReconcile = {
      resource,
      spec,
      status: resource.status ?? {},
      client,
      context,
      hub,
      cached,
      answers,
      hashes,
      configHash: recorded(hashes, key).configHash,
      key,
      redact: (text) => mask(client.rest.redact(text)),
      draining: this.contexts.isDraining,
      previous: conditionOf(resource, 'Ready'),
    };
    const outcome = await this.reconcile(reconcile).catch((error: unknown) => {
      // The hub quotes what it rejects.
      if (error instanceof HubRejected || error instanceof HubFailed) return hubErrorOutcome(error, 'object');
      throw error;
    });
    return redacted(outcome, reconcile.redact);
  }

  async remove(
    resource: IntegrationResource,
    client: HubClient,
    context: ReconcileContext,
  ): Promise<readonly EventSpec[] | Waiting> {
    const hub = this.contexts.of(client, resource);
    const { operation } = hub.of(resource);
    if (operation && !operation.end) {
      operation.stop();
      return waiting('ConfigFlowInProgress', 'The flow is being ended in the hub.', API_NOT_LOADED_REQUEUE);
    }
    const { status } = resource;
    const made = operation?.madeEntry;
    const pendingFlow = status?.pendingFlow;
    if (context.dryRun) {
      this.forget(resource, client);
      const object = this.objectOf(resource);
      if (object === undefined) return [];
      const message = `The ${object} stays in the hub: nothing is sent with the annotation dry-run.`;
      return [{ type: 'Warning', reason: 'CleanupSkipped', message }];
    }
    if (pendingFlow && !mayMakeEntry(pendingFlow)) await abortFlow(client, pendingFlow);
    // Once the former entry is being removed here, the flow that was to replace it has made none.
    const removing = hub.of(resource).removal?.entryId;
    const isUnstarted = removing !== undefined && removing === pendingFlow?.replaces;
    const mayHaveMade = pendingFlow !== undefined && mayMakeEntry(pendingFlow) && !made && !isUnstarted;
    const running = mayHaveMade ? hub.runningFlow(resource) : undefined;
    if (running) return domainBusy(running);
    const ended: InterruptedFlow = mayHaveMade
      ? await this.acquisition.endPending(resource, client, hub)
      : { unclear: [] };
    const left = made ?? ended.made;
    const own = status?.entryID ?? (left ? undefined : pendingFlow?.replaces);
    const ids = [
      ...(left && resource.spec.deletionPolicy !== 'Orphan' ? [left.entry_id] : []),
      ...(own !== undefined && !isKept(resource) ? [own] : []),
    ];
    for (const id of ids)
      if (!(await this.ensureRemoved(resource, client, id)))
        return waiting('ConfigFlowInProgress', 'The entry is being removed from the hub.', FINALIZER_TRY);
    this.forget(resource, client);
    return ended.unclear.length > 0 ? [leftEntries(ended.unclear)] : [];
  }

  objectOf(resource: IntegrationResource): string | undefined {
    const { entryID, pendingFlow } = resource.status ?? {};
    const id = isKept(resource) ? undefined : (entryID ?? pendingFlow?.replaces);
    if (id !== undefined) return `entry ${id}`;
    return pendingFlow && 'config flow, or the entry that it made,';
  }

  forget(resource: IntegrationResource, client: HubClient): void {
    this.contexts.of(client, resource).forget(resource);
  }

  /**
   * Removes the entry. False: not done yet, since unloading it takes long.
   *
   * @throws the error that the removal ended with; HubUnreachable if the hub no longer answers
   */
  private async ensureRemoved(
    resource: IntegrationResource,
    client: HubClient,
    entryId: string,
  ): Promise<boolean> {
    const hub = this.contexts.of(client, resource);
    const cached = hub.of(resource);
    const { clock } = this.services;
    if (cached.removal?.entryId !== entryId) {
      const removal: Removal = { entryId, startedAt: clock.monotonic() };
      cached.removal = removal;
      void client.configEntries
        .remove(entryId)
        .then(() => undefined, errorOf)
        .then((error) => {
          removal.end = { error };
          hub.requeue(resource);
        });
      return false;
    }
    const { end, startedAt } = cached.removal;
    if (!end) {
      // A hub that answers this request is only busy.
      if (clock.monotonic() - startedAt >= FINALIZER_TRY)
        await client.rest.get('/manifest.json', { token: null, timeout: FINALIZER_TRY });
      return false;
    }
    cached.removal = undefined;
    if (end.error) throw end.error;
    return true;
  }

  private async reconcile(reconcile: IntegrationReconcile): Promise<Outcome> {
    const { cached, client, context, status } = reconcile;
    const { operation } = cached;
    if (context.forced) {
      cached.failure = undefined;
      cached.reauth = undefined;
    }
    if (operation && !context.dryRun)
      return operation.end
        ? this.results.record(reconcile, operation, operation.end)
        : inProgress(reconcile, operation);
    const entries = context.forced
      ? await client.configEntries.refreshed()
      : await client.configEntries.all();
    const entry = status.entryID === undefined ? undefined : entries.get(status.entryID);
    if (context.dryRun)
      return dryRun(
        reconcile,
        entry,
        entry ? undefined : await this.acquisition.adoptable(reconcile, entries),
      );
    if (status.entryID === undefined && reconcile.draining) return inProgress(reconcile, undefined);
    if (status.entryID === undefined) return this.acquisition.acquire(reconcile, entries);
    const { pendingFlow } = status;
    if (pendingFlow && isTrial(pendingFlow))
      return endTrial(reconcile, pendingFlow, this.acquisition, this.services.clock);
    if (!entry) return this.maintenance.onMissing(reconcile, status.entryID);
    return this.maintenance.maintain(reconcile, entry);
  }
}

/** Whether the entry stays in the hub when its resource is deleted. */
const isKept = ({ spec: { deletionPolicy }, status }: IntegrationResource): boolean =>
  deletionPolicy === 'Orphan' || (deletionPolicy === undefined && status?.adopted === true);

/** Former values that are remembered of one resource: the oldest are forgotten. */
const REMEMBERED_SECRETS = 200;

function withFormer(former: ReadonlySet<string>, present: readonly string[]): ReadonlySet<string> {
  const added = present.filter((value) => !former.has(value));
  return added.length === 0 ? former : new Set([...former, ...added].slice(-REMEMBERED_SECRETS));
}

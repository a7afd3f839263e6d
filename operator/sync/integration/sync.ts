import { HubRejected } from '../../client/errors';
import type { ConfigEntry } from '../../client/flow-step';
import type { HubClient } from '../../client/hub-client';
import { redactor } from '../../client/redact';
import { timestamp } from '../../clock';
import { DeadlineExceeded } from '../../deadline';
import { Stopping } from '../../errors';
import { type Hub, integration as definition } from '../../kinds';
import { defaulted } from '../../kinds/schema';
import { API_NOT_LOADED_REQUEUE, DEPENDENCY_REQUEUE } from '../../limits';
import { conditionOf } from '../../runtime/conditions';
import type { EventSpec } from '../../runtime/event-spec';
import { type Outcome, ready, stalled, type Waiting, waiting } from '../../runtime/outcome';
import type { ReconcileContext } from '../../runtime/sync-module';
import type { ChildModule } from '../child';
import type { Services } from '../services';
import { entryMadeSince, entryToAdopt, freeEntries, wantedTitle } from './adoption';
import {
  type AnswerHashes,
  changedAnswers,
  hashAnswers,
  isComparable,
  placeOf,
  recorded,
} from './answer-hashes';
import { resolveAnswers } from './answers';
import { createEntry, type FlowWork, reauthenticate, updateEntry } from './entry-flows';
import { entryOutcome } from './entry-state';
import { failureAfter } from './failures';
import { hashKey } from './hash-key';
import type { HubContexts, IntegrationResource } from './hub-context';
import { Operation, type OperationResult } from './operation';
import { problemText } from './problem-text';
import { redacted } from './redacted-outcome';
import type { IntegrationWork } from './work';

/** Milliseconds until a resource looks again whether the flow of another one of its domain has ended. */
const DOMAIN_BUSY_REQUEUE = 2_000;

/**
 * Reconciles integrations (rules.md, "Integrations"): an entry is adopted or made by a config flow, changed answers are
 * applied to it, and its state is reported. Flows run as operations: a reconcile starts one and returns, and its end
 * queues the resource again.
 */
export class IntegrationSync implements ChildModule<IntegrationResource> {
  constructor(
    private readonly services: Services,
    private readonly contexts: HubContexts,
  ) {}

  async sync(resource: IntegrationResource, client: HubClient, context: ReconcileContext): Promise<Outcome> {
    const spec = defaulted(definition.spec, resource.spec);
    const { namespace } = resource.metadata;
    const resolved = await resolveAnswers(this.services.secrets, namespace, spec);
    if ('invalid' in resolved) return stalled('InvalidSpec', resolved.invalid);
    if ('missing' in resolved) return waiting(resolved.reason, resolved.missing, DEPENDENCY_REQUEUE);
    const { answers } = resolved;
    const key = await hashKey(
      this.services,
      this.services.cache.get<Hub>('Hub', namespace, spec.hubRef.name)!,
    );
    if (key === undefined) return waiting('ConfigFlowInProgress', 'The key of the hashes is created.', 0);
    const hub = this.contexts.of(client, resource);
    await hub.watch();
    const hashes = hashAnswers(answers, key);
    const mask = redactor(answers.secrets);
    const work: IntegrationWork = {
      resource,
      spec,
      status: resource.status ?? {},
      client,
      context,
      hub,
      cached: hub.of(resource),
      answers,
      hashes,
      configHash: recorded(hashes, key).configHash,
      key,
      redact: (text) => mask(client.rest.redact(text)),
      previous: conditionOf(resource, 'Ready'),
    };
    return redacted(await this.reconcile(work), work.redact);
  }

  async remove(
    resource: IntegrationResource,
    client: HubClient,
    context: ReconcileContext,
  ): Promise<readonly EventSpec[] | Waiting> {
    const hub = this.contexts.of(client, resource);
    const { operation } = hub.of(resource);
    if (operation && !operation.ended) {
      operation.stop();
      return waiting('ConfigFlowInProgress', 'The flow is being ended in the hub.', API_NOT_LOADED_REQUEUE);
    }
    const { status } = resource;
    const spec = defaulted(definition.spec, resource.spec);
    const made = operation?.result?.type === 'created' ? operation.result.entry : undefined;
    const left = made ?? (status?.pendingFlow && (await this.endPending(resource, client)));
    const entryId = status?.entryID ?? left?.entry_id;
    const isKept = spec.deletionPolicy === 'Orphan' || (spec.deletionPolicy === undefined && status?.adopted);
    if (entryId === undefined || isKept) {
      this.forget(resource, client);
      return [];
    }
    if (context.dryRun) {
      const message = `The entry ${entryId} stays in the hub: nothing is sent with the annotation dry-run.`;
      return [{ type: 'Warning', reason: 'CleanupSkipped', message }];
    }
    await client.configEntries.remove(entryId);
    this.forget(resource, client);
    return [];
  }

  forget(resource: IntegrationResource, client: HubClient): void {
    this.contexts.of(client, resource).forget(resource);
  }

  private async reconcile(work: IntegrationWork): Promise<Outcome> {
    const { cached, client, context, status } = work;
    const { operation } = cached;
    if (context.forced) {
      cached.failure = undefined;
      cached.reauth = undefined;
    }
    if (operation && !context.dryRun)
      return operation.ended ? this.recordResult(work, operation) : this.inProgress(work, operation);
    if (this.contexts.draining) return this.inProgress(work, undefined);
    const entries = context.forced
      ? await client.configEntries.refreshed()
      : await client.configEntries.all();
    const entry = status.entryID === undefined ? undefined : entries.get(status.entryID);
    if (context.dryRun) return this.dryRun(work, entries, entry);
    if (status.entryID === undefined) return this.acquire(work, entries);
    if (!entry) return this.onMissing(work, status.entryID);
    return this.maintain(work, entry);
  }

  /** No entry yet: one is adopted, or made. */
  private async acquire(work: IntegrationWork, entries: ReadonlyMap<string, ConfigEntry>): Promise<Outcome> {
    const { cached, client, hub, resource, spec, status } = work;
    const { pendingFlow } = status;
    if (pendingFlow) {
      if (cached.startedAt === pendingFlow.startedAt) return this.create(work);
      const made = await this.endPending(resource, client);
      return made
        ? this.own(work, made, status.answerHashes ?? {}, {})
        : this.inProgress(work, undefined, 0, { pendingFlow: null });
    }
    const found = cached.isRecreating ? undefined : this.adoptable(work, entries);
    if (found) return this.adopt(work, found);
    const failed = this.stillFailed(work);
    if (failed) return failed;
    const busy = hub.acquireDomain(resource);
    if (busy) {
      const message = `Waiting for the config flow of ${busy.metadata.name}: one of ${spec.domain} runs at a time.`;
      return waiting('ConfigFlowInProgress', message, DOMAIN_BUSY_REQUEUE);
    }
    const startedAt = timestamp(this.services.clock.now());
    cached.startedAt = startedAt;
    const entryIDs = [...entries.values()]
      .filter((entry) => entry.domain === spec.domain)
      .map((entry) => entry.entry_id);
    return this.inProgress(work, undefined, 0, {
      pendingFlow: { startedAt, entryIDs },
      ...recorded(entryHashes(work.hashes), work.key),
    });
  }

  private create(work: IntegrationWork): Outcome {
    work.cached.startedAt = undefined;
    const operation = this.start(work, 'create', (running) => createEntry(this.flowWork(work), running));
    return this.inProgress(work, operation);
  }

  /**
   * Ends the flow of a process that crashed. Resolves with the entry that it made (rules.md, "Integrations");
   * undefined: it made none.
   */
  private async endPending(
    resource: IntegrationResource,
    client: HubClient,
  ): Promise<ConfigEntry | undefined> {
    const { pendingFlow } = resource.status!;
    const hub = this.contexts.of(client, resource);
    if (pendingFlow?.flowID !== undefined) await client.flows.abort('config', pendingFlow.flowID);
    const { domain, title } = resource.spec;
    const entries = await client.configEntries.refreshed();
    const free = freeEntries(entries.values(), domain, (id) => hub.ownerOf(id, resource) !== undefined);
    return entryMadeSince(free, { domain, title }, pendingFlow?.entryIDs ?? []);
  }

  private adoptable(
    { answers, hub, resource, spec }: IntegrationWork,
    entries: ReadonlyMap<string, ConfigEntry>,
  ): ConfigEntry | undefined {
    if (spec.adopt === 'Never') return undefined;
    const { domain } = spec;
    const free = freeEntries(entries.values(), domain, (id) => hub.ownerOf(id, resource) !== undefined);
    const count = [...entries.values()].filter((entry) => entry.domain === domain).length;
    return entryToAdopt(free, { domain, title: wantedTitle(spec.title, answers) }, count);
  }

  /** What the entry has cannot be seen: its answers count as those of the spec, until they change there. */
  private adopt(work: IntegrationWork, entry: ConfigEntry): Outcome {
    const message = `The hub already had the ${entry.domain} entry “${entry.title}”: it now belongs to this resource.`;
    const event: EventSpec = { type: 'Warning', reason: 'Adopted', message };
    return this.own(work, entry, entryHashes(work.hashes), { adopted: true }, [event]);
  }

  private own(
    work: IntegrationWork,
    entry: ConfigEntry,
    hashes: AnswerHashes,
    status: Readonly<Record<string, unknown>>,
    events: readonly EventSpec[] = [],
  ): Outcome {
    const { cached, hub, resource, key } = work;
    hub.claim(resource, entry.entry_id);
    hub.releaseDomain(resource.metadata.uid);
    cached.failure = undefined;
    cached.isRecreating = false;
    return this.inProgress(
      work,
      undefined,
      0,
      {
        entryID: entry.entry_id,
        title: entry.title,
        entryState: entry.state,
        pendingFlow: null,
        adopted: null,
        lastAppliedTime: timestamp(this.services.clock.now()),
        ...recorded(hashes, key),
        ...status,
      },
      events,
    );
  }

  /** The entry was removed from the hub. */
  private async onMissing(work: IntegrationWork, entryId: string): Promise<Outcome> {
    const { client, spec, status } = work;
    const entries = await client.configEntries.refreshed();
    const present = entries.get(entryId);
    if (present) return this.maintain(work, present);
    const what = `The ${spec.domain} entry “${status.title ?? entryId}” was removed from the hub`;
    if (spec.driftPolicy === 'Warn') return this.report(work, `${what}. driftPolicy is Warn: it stays so.`);
    const events = [this.corrected(`${what}: it is created again.`)];
    return this.inProgress(work, undefined, 0, NO_ENTRY, events);
  }

  /** The entry exists: what differs is applied, then its state decides. */
  private async maintain(work: IntegrationWork, entry: ConfigEntry): Promise<Outcome> {
    const { cached, hashes, hub, key, previous, resource, status } = work;
    hub.claim(resource, entry.entry_id);
    const seen = this.seen(work, entry);
    // The key was lost: nothing can be compared, so nothing is done.
    if (!isComparable(status.configHash, key))
      return this.inProgress(work, undefined, 0, { ...seen, ...recorded(hashes, key) });
    const corrected = await this.correctEntry(work, entry);
    if (corrected) return corrected;
    if (entry.disabled_by !== null)
      return ready('EntryDisabled', `The ${entry.domain} entry “${entry.title}” is disabled in the hub.`, {
        status: seen,
      });
    const reauth = await this.reauthenticate(work, entry);
    if (reauth) return withStatus(reauth, seen);
    const changed = changedAnswers(status.answerHashes ?? {}, hashes);
    if (changed.length > 0) {
      const failed = this.stillFailed(work);
      if (failed) return withStatus(failed, seen);
      const before = status.answerHashes ?? {};
      const operation = this.start(work, 'update', (running) =>
        updateEntry(this.flowWork(work), entry, before, status.adopted === true, running),
      );
      return this.inProgress(work, operation, undefined, seen);
    }
    cached.failure = undefined;
    return withStatus(entryOutcome(entry, previous), seen);
  }

  /** Title and `disabled_by`, which need no flow. */
  private async correctEntry(work: IntegrationWork, entry: ConfigEntry): Promise<Outcome | undefined> {
    const { client, resource, spec, status } = work;
    const { entry_id: entryId, title, domain } = entry;
    const isSettled = status.observedGeneration === resource.metadata.generation;
    const differences = [
      ...(spec.title !== undefined && title !== spec.title ? [`its title is “${title}”`] : []),
      ...(spec.enabled !== (entry.disabled_by === null)
        ? [spec.enabled ? 'it is disabled' : 'it is enabled']
        : []),
    ];
    if (differences.length === 0) return undefined;
    const isDrift = isSettled && work.previous?.status === 'True';
    const wasReported = work.previous?.reason === 'DriftDetected' && isSettled;
    const what = `The ${domain} entry was changed in the hub: ${differences.join(', ')}`;
    if ((isDrift || wasReported) && spec.driftPolicy === 'Warn')
      return withStatus(
        this.report(work, `${what}. driftPolicy is Warn: it stays so.`),
        this.seen(work, entry),
      );
    if (spec.title !== undefined && title !== spec.title)
      await client.configEntries.setTitle(entryId, spec.title);
    if (spec.enabled !== (entry.disabled_by === null))
      await client.configEntries.setEnabled(entryId, spec.enabled);
    const events = isDrift ? [this.corrected(`${what}. It is changed back.`)] : [];
    return this.inProgress(work, undefined, 0, this.seen(work, entry), events);
  }

  /** The hub asks for other credentials: the present answers are sent once. */
  private async reauthenticate(work: IntegrationWork, entry: ConfigEntry): Promise<Outcome | undefined> {
    const { cached, client, configHash } = work;
    const flowId = await client.reauthFlows.of(entry.entry_id);
    if (flowId === undefined) {
      cached.reauth = undefined;
      return undefined;
    }
    const key = `${flowId} ${configHash}`;
    if (cached.reauth?.key === key) {
      const why = cached.reauth.message === undefined ? '' : ` ${cached.reauth.message}`;
      return stalled(
        'AuthNeeded',
        `The ${entry.domain} entry “${entry.title}” needs other credentials: change them in the Secret, or answer the hub’s request in its UI.${why}`,
      );
    }
    cached.reauth = { key, message: undefined };
    const operation = this.start(work, 'reauth', (running) =>
      reauthenticate(this.flowWork(work), flowId, running),
    );
    return this.inProgress(work, operation);
  }

  /** Takes over what an operation came to. */
  private async recordResult(work: IntegrationWork, operation: Operation): Promise<Outcome> {
    const { cached, client, context, hub, resource } = work;
    const { result, error } = operation;
    cached.operation = undefined;
    hub.releaseDomain(resource.metadata.uid);
    if (!result) {
      // It ended its flow.
      if (error instanceof Stopping || error instanceof DeadlineExceeded)
        return this.inProgress(work, undefined, 0, { pendingFlow: null });
      if (error instanceof HubRejected) return this.rejected(work, operation, error);
      // Whether it was carried out is not known: the pending flow stays in status, and its entry is looked for.
      throw error ?? new Error('an operation ended without a result');
    }
    const summary = { kind: operation.type, result: result.type, flowID: operation.flowId };
    context.log.info(summary, 'ended config flow');
    switch (result.type) {
      case 'created':
        return this.own(
          work,
          result.entry,
          entryHashes(operation.sent.hashes),
          {},
          unusedEvents(result.unused),
        );
      case 'applied':
        if (operation.type === 'update') cached.failure = undefined;
        return this.inProgress(work, undefined, 0, this.appliedStatus(work, operation, result.applied));
      case 'removed': {
        cached.isRecreating = true;
        const message = `The entry was removed to be created again, since no form of it has ${result.changed.join(', ')}, or reconfigure is Recreate.`;
        return this.inProgress(work, undefined, 0, NO_ENTRY, [
          { type: 'Warning', reason: 'EntryRecreated', message },
        ]);
      }
      case 'failed': {
        const existing = operation.type === 'create' ? await this.existing(work, result) : undefined;
        if (existing) return this.adopt(work, existing);
        const message = work.redact(await problemText(client, result.flow, result.problem));
        return this.failed(work, operation, result, message);
      }
    }
  }

  /** The domain has a single instance, which no resource owns. */
  private async existing(
    { client, hub, resource, spec }: IntegrationWork,
    { problem }: Extract<OperationResult, { readonly type: 'failed' }>,
  ): Promise<ConfigEntry | undefined> {
    if (spec.adopt === 'Never' || problem.key !== 'single_instance_allowed') return undefined;
    const entries = await client.configEntries.refreshed();
    const isOwned = (id: string) => hub.ownerOf(id, resource) !== undefined;
    const free = freeEntries(entries.values(), spec.domain, isOwned);
    return free.length === 1 ? free[0] : undefined;
  }

  private failed(
    work: IntegrationWork,
    operation: Operation,
    { problem, applied }: Extract<OperationResult, { readonly type: 'failed' }>,
    message: string,
  ): Outcome {
    const { cached } = work;
    const { configHash } = operation.sent;
    if (operation.type === 'reauth') {
      if (cached.reauth) cached.reauth = { ...cached.reauth, message };
      return this.inProgress(work, undefined, 0);
    }
    cached.failure = failureAfter(
      { previous: cached.failure, configHash },
      problem,
      this.withWayOut(work, problem.key, message),
      this.services.clock,
    );
    const status = operation.type === 'create' ? NO_ENTRY : this.appliedStatus(work, operation, applied);
    // Compared with the answers as they are now: they may have changed meanwhile.
    const failed = this.stillFailed(work);
    return failed ? withStatus(failed, status) : this.inProgress(work, undefined, 0, status);
  }

  private withWayOut(
    { hub, client, resource, spec }: IntegrationWork,
    key: string | undefined,
    message: string,
  ) {
    if (key !== 'single_instance_allowed' && key !== 'already_configured') return message;
    if (spec.adopt === 'Never') return `${message} The entry exists, and spec.adopt is Never.`;
    const entries = [...(client.configEntries.lastKnown?.values() ?? [])];
    const own = entries.filter((entry) => entry.domain === spec.domain && entry.source !== 'ignore');
    const titles = own.map((entry) => {
      const owner = hub.ownerOf(entry.entry_id, resource);
      return `“${entry.title}”${owner ? ` (of ${owner.metadata.name})` : ''}`;
    });
    if (titles.length === 0) return message;
    return `${message} To adopt an existing entry, set spec.title to its title: ${titles.join(', ')}.`;
  }

  /** The hub has no such integration, or one that cannot be reconfigured. */
  private rejected(work: IntegrationWork, operation: Operation, error: HubRejected): Outcome {
    const { spec } = work;
    const text =
      error.code === '404' && operation.type === 'create'
        ? `The hub has no integration ${spec.domain} that can be set up, or cannot load it: check spec.domain and the hub’s log.`
        : `The hub rejected the flow of ${spec.domain}: ${error.message}`;
    const failed = {
      type: 'failed',
      flow: { kind: 'config', domain: spec.domain },
      problem: { kind: 'answers' },
    } as const;
    return this.failed(work, operation, { ...failed, applied: new Set() }, work.redact(text));
  }

  private stillFailed({ cached: { failure }, configHash }: IntegrationWork): Outcome | undefined {
    if (failure?.configHash !== configHash) return undefined;
    const after = failure.retryAt - this.services.clock.monotonic();
    if (after <= 0) return undefined;
    return stalled('ConfigFlowFailed', failure.message, after === Infinity ? {} : { after });
  }

  private start(
    { cached, configHash, hashes, hub, resource }: IntegrationWork,
    type: Operation['type'],
    run: (operation: Operation) => Promise<OperationResult>,
  ): Operation {
    const operation = new Operation(
      type,
      { configHash, hashes },
      this.services.clock,
      () => hub.requeue(resource),
      run,
    );
    cached.operation = operation;
    return operation;
  }

  /** The message is the same from the first reconcile to the last, so that status is written once meanwhile. */
  private inProgress(
    { cached, configHash, spec, status }: IntegrationWork,
    operation: Operation | undefined,
    after = DEPENDENCY_REQUEUE,
    fields: Readonly<Record<string, unknown>> = {},
    events: readonly EventSpec[] = [],
  ): Outcome {
    const flowID = operation?.type === 'create' && !operation.ended ? operation.flowId : undefined;
    const pendingFlow = status.pendingFlow;
    if (flowID !== undefined && pendingFlow?.flowID === flowID) operation!.recorded();
    const isNew = flowID !== undefined && pendingFlow?.flowID !== flowID;
    const details = {
      status: { ...(isNew && { pendingFlow: { ...pendingFlow, flowID } }), ...fields },
      events,
    };
    const delay = isNew ? 0 : after;
    // Another attempt at what has failed: the status stays until it comes to something else.
    if (cached.failure?.configHash === configHash)
      return stalled('ConfigFlowFailed', cached.failure.message, { ...details, after: delay });
    return waiting(
      'ConfigFlowInProgress',
      `The integration ${spec.domain} is being set up in the hub.`,
      delay,
      details,
    );
  }

  private flowWork({ client, spec, answers, hashes }: IntegrationWork): FlowWork {
    return { client, clock: this.services.clock, spec, answers, hashes };
  }

  private appliedStatus(
    { key, status }: IntegrationWork,
    { sent }: Operation,
    applied: ReadonlySet<string>,
  ): Readonly<Record<string, unknown>> {
    if (applied.size === 0) return {};
    const kept = Object.entries(status.answerHashes ?? {}).filter(([id]) => !applied.has(id));
    const set = Object.entries(sent.hashes).filter(([id]) => applied.has(id));
    return {
      ...recorded(Object.fromEntries([...kept, ...set]), key),
      lastAppliedTime: timestamp(this.services.clock.now()),
    };
  }

  private seen(
    { status }: IntegrationWork,
    { title, state }: ConfigEntry,
  ): Readonly<Record<string, unknown>> {
    // The hub tries to set it up again: its state stays the same.
    const isRetry = status.entryState === 'setup_retry' && state === 'setup_in_progress';
    return { title, entryState: isRetry ? 'setup_retry' : state };
  }

  private dryRun(
    work: IntegrationWork,
    entries: ReadonlyMap<string, ConfigEntry>,
    entry: ConfigEntry | undefined,
  ): Outcome {
    const { hashes, spec, status } = work;
    const tail = 'Remove the annotation to have it done.';
    if (!entry) {
      const found = this.adoptable(work, entries);
      const ids = Object.keys(hashes).sort();
      const would = found
        ? `Would adopt the ${spec.domain} entry “${found.title}”.`
        : `Would run the config flow of ${spec.domain}${ids.length > 0 ? ` with ${ids.join(', ')}` : ''}.`;
      return stalled('DryRun', `${would} ${tail}`);
    }
    const changes = [
      ...changedAnswers(status.answerHashes ?? {}, hashes),
      ...(spec.title !== undefined && spec.title !== entry.title ? ['title'] : []),
      ...(spec.enabled !== (entry.disabled_by === null) ? ['enabled'] : []),
    ];
    if (changes.length === 0) return ready('DryRun', 'Nothing would be sent: the entry is as specified.');
    return stalled('DryRun', `Would apply ${changes.join(', ')}. ${tail}`);
  }

  private corrected(message: string): EventSpec {
    this.services.metrics.driftFound(definition.kind, 'corrected');
    return { type: 'Warning', reason: 'DriftDetected', message };
  }

  private report({ previous }: IntegrationWork, message: string): Outcome {
    if (previous?.reason !== 'DriftDetected') this.services.metrics.driftFound(definition.kind, 'reported');
    return stalled('DriftDetected', message);
  }
}

/** Status fields of a resource without an entry. */
const NO_ENTRY = {
  entryID: null,
  entryState: null,
  title: null,
  adopted: null,
  configHash: null,
  answerHashes: null,
  pendingFlow: null,
} as const;

/** Options and subentries are applied once there is an entry. */
function entryHashes(hashes: AnswerHashes): AnswerHashes {
  const ofEntry = ([id]: [string, string]) => ['configuration', 'steps'].includes(placeOf(id).part);
  return Object.fromEntries(Object.entries(hashes).filter(ofEntry));
}

function withStatus(outcome: Outcome, status: Readonly<Record<string, unknown>>): Outcome {
  return { ...outcome, status: { ...status, ...outcome.status } };
}

function unusedEvents(unused: readonly { readonly id: string }[]): readonly EventSpec[] {
  if (unused.length === 0) return [];
  const message = `No form of the integration asked for ${unused.map(({ id }) => id).join(', ')}: correct the name, or remove it.`;
  return [{ type: 'Warning', reason: 'AnswersNotUsed', message }];
}

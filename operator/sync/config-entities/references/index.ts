import { OperationalError } from '../../../base/errors';
import { HubError, HubFailed, HubRejected } from '../../../client/connection/errors';
import type { HubClient } from '../../../client/hub-client';
import { REFERENCES_PAUSE } from '../../../base/limits';
import { Timer } from '../../../base/timer';
import type { Outcome, Ready } from '../../../runtime/outcome';
import type { Child } from '../../objects/child';
import { redactedBug } from '../../objects/redaction';
import { PerClient, PerResource } from '../../objects/remembered';
import type { Services } from '../../services';
import type { ConfigEntitySpec, EntityType, EntityWork } from '../entity-type';
import type { InUse } from '../observation';
import { Creators } from './creators';
import { referencesOf } from './extract';
import { confirmed, notSetUp, readIds } from './missing';
import { Settling } from './settling';
import { Suggestions } from './suggestion';
import { judged, referenceText, type Remembered, unsettled, type Verdict } from './verdict';

/** In-memory state of one resource. */
interface Memory extends Remembered {
  /** Requeues the resource. */
  requeue?: () => void;
  /** True if the resource waits until the hub has set up its integrations. */
  isWaiting?: boolean;
  /** The missing references, each as a text with type and id. */
  missing?: ReadonlySet<string>;
}

/** The data of one hub. */
interface HubState {
  readonly settling: Settling;
  readonly suggestions: Suggestions;
  readonly memory: PerResource<Memory>;
  /** Requeues the resources that wait until the hub has set up its integrations. */
  readonly timer: Timer;
  /** Monotonic time until which nothing is checked, after the hub rejected or failed at a request. */
  pausedUntil: number;
}

/**
 * The condition `ReferencesFound` of automations, scenes and scripts that the hub runs (rules.md,
 * "References"). The check affects nothing else: if the hub does not answer, the former condition stays.
 */
export class ReferenceCheck extends PerClient<HubState> {
  private readonly creators: Creators;

  constructor(private readonly services: Pick<Services, 'cache' | 'clock' | 'requeue' | 'settings'>) {
    super();
    this.creators = new Creators(services.cache);
  }

  protected override create(client: HubClient): HubState {
    const { clock, settings } = this.services;
    const memory = new PerResource<Memory>(() => ({}));
    client.names.onAppearance((type, id) => {
      const appeared = referenceText({ type, id });
      for (const { missing, requeue } of memory.values()) if (missing?.has(appeared)) requeue?.();
    });
    const settling = new Settling(client, clock, settings.hubSettleTime);
    return {
      settling,
      suggestions: new Suggestions(),
      memory,
      timer: new Timer(clock),
      pausedUntil: -Infinity,
    };
  }

  forget({ metadata }: Child, client: HubClient): void {
    this.find(client)?.memory.delete(metadata.uid);
  }

  /** Adds the condition to the outcome of a resource that is in use. */
  async complete<R extends Child, S extends ConfigEntitySpec>(
    entityType: EntityType<R, S>,
    work: EntityWork<R, S>,
    inUse: Pick<InUse, 'entity' | 'running'>,
    outcome: Outcome,
  ): Promise<Outcome> {
    if (outcome.type !== 'Ready') return outcome;
    const { client, resource, context } = work;
    const state = this.of(client, resource);
    const now = this.services.clock.monotonic();
    if (now < state.pausedUntil) return outcome;
    try {
      const { epoch } = client.presence;
      const verdict = await this.look(entityType, work, inUse, state);
      // The lists may be from a hub that has just begun to start.
      return client.presence.epoch === epoch ? merged(outcome, verdict) : outcome;
    } catch (error) {
      if (!(error instanceof HubError)) {
        if (error instanceof OperationalError) throw error;
        // A definition that the check cannot read must not change `Ready`: the hub uses the definition.
        context.log.error({ error: redactedBug(error, client.rest.redact) }, 'failed to check references');
        return outcome;
      }
      context.log.info({ error }, 'the hub did not let references be checked');
      if (error instanceof HubRejected || error instanceof HubFailed)
        state.pausedUntil = now + REFERENCES_PAUSE;
      return outcome;
    }
  }

  private async look<R extends Child, S extends ConfigEntitySpec>(
    entityType: EntityType<R, S>,
    { client, payload, resource }: EntityWork<R, S>,
    { entity, running }: Pick<InUse, 'entity' | 'running'>,
    state: HubState,
  ): Promise<Verdict> {
    // A hub that does not return the running definition does not return one with its blueprint filled in
    // either.
    if (!running && 'use_blueprint' in payload) return {};
    const memory = this.memoryOf(resource, state);
    const left = await state.settling.left();
    memory.isWaiting = left > 0;
    if (left > 0) {
      wakeAfter(left, state);
      return unsettled;
    }
    const references = referencesOf(running ?? payload);
    this.creators.record(resource, references);
    const others = references.all.filter(({ type, id }) => type !== 'entity' || id !== entity.entity_id);
    const ids = await readIds(client, others, entity.entity_id, state.suggestions);
    const absent = others.filter(
      ({ type, id }) =>
        !ids.get(type)!.has(id) && !(type === 'entity' && this.creators.isCreated(id, resource)),
    );
    const missing = await confirmed(client, entityType.type, entity.entity_id, absent);
    memory.missing = new Set(missing.map(referenceText));
    const found = { missing, ids, notSetUp: await notSetUp(client, missing) };
    return judged(resource, found, memory, this.services.clock.monotonic());
  }

  private memoryOf({ kind, metadata: { name, namespace, uid } }: Child, state: HubState): Memory {
    const memory = state.memory.get(uid);
    memory.requeue ??= () => this.services.requeue(kind, namespace, name, 'resync');
    return memory;
  }
}

function wakeAfter(delay: number, state: HubState): void {
  state.timer.set(delay, () => void wakeSettled(state));
}

/**
 * Requeues the resources that wait, once the hub has set up its integrations. Until then one timer polls for
 * all of them, since a config entry may be set up for hours.
 */
async function wakeSettled(state: HubState): Promise<void> {
  const left = await state.settling.left().catch(() => 0);
  if (left > 0) return wakeAfter(left, state);
  for (const { isWaiting, requeue } of state.memory.values()) if (isWaiting) requeue?.();
}

function merged(outcome: Ready, { after, events = [], ...verdict }: Verdict): Ready {
  const soonest = Math.min(outcome.after ?? Infinity, after ?? Infinity);
  return {
    ...outcome,
    status: { ...outcome.status, ...verdict.status },
    conditions: { ...outcome.conditions, ...verdict.conditions },
    events: [...(outcome.events ?? []), ...events],
    ...(soonest < Infinity && { after: soonest }),
  };
}

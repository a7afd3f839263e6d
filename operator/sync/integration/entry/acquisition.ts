import type { ConfigEntry } from '../../../client/connection/flow-step';
import { timestamp } from '../../../base/clock';
import type { EventSpec } from '../../../runtime/event-spec';
import { type Outcome, stalled } from '../../../runtime/outcome';
import { volumeStatus } from '../../hub-pod/hub-volume';
import { adoptedEvent } from '../../objects/ownership';
import { type AnswerHashes, recorded } from '../answer-hashes';
import { unclearEntries } from '../flow/problem-text';
import { type IntegrationContext, type IntegrationReconcile, MOMENT } from '../integration-context';
import { type Failed, measured } from '../operation';
import { domainBusy, inProgress, startOperation, stillFailed } from '../progress';
import {
  chosenOptions,
  desiredTitle,
  entriesOf,
  entryNamedBy,
  entryToAdopt,
  idsOfDomain,
  isConfigured,
  isOfChosenType,
} from './adoption';
import { createEntry } from './creation';
import { endCreation, isCompleted, leftEntries } from './interrupted';
import { entryHash, entryHashes, NO_ENTRY } from './status';
import { adoptableOf } from './candidates';

// Acquires an entry for a resource: an existing one is adopted, or a config flow creates one.

/** Adopts or creates an entry for a resource that has none yet. */
export async function acquire(reconcile: IntegrationReconcile): Promise<Outcome> {
  const { cached, client, draining, hub, resource, status } = reconcile;
  if (draining) return inProgress(reconcile, undefined);
  if (status.pendingFlow) {
    const isStarting = cached.startedAt === status.pendingFlow.startedAt;
    if (!isStarting) return endInterruptedFlow(reconcile);
    const running = hub.runningFlow(resource);
    if (running) return domainBusy(running);
    cached.startedAt = undefined;
    const operation = startOperation(reconcile, 'create', (started) => createEntry(reconcile, started));
    return inProgress(reconcile, operation);
  }
  // Running flows are checked before the entries, since the hub shows a new entry before it answers the flow
  // that created that entry.
  const maker = hub.otherFlow(resource);
  const known = await adoptable(reconcile);
  if (maker) return known ? domainBusy(maker) : (stillFailed(reconcile) ?? domainBusy(maker));
  if (known) return adopt(reconcile, known);
  const failed = stillFailed(reconcile);
  if (failed) return failed;
  // The event of an entry that a user has just created may not have arrived.
  const now = { ...reconcile, entries: await client.configEntries.refreshed() };
  const found = await adoptable(now);
  return found ? adopt(now, found) : begin(now);
}

/** Records in status that a config flow is about to start. */
export function begin(reconcile: IntegrationReconcile, events: readonly EventSpec[] = []): Outcome {
  const { cached, client, clock, entries, hub, resource, spec, volume } = reconcile;
  const busy = hub.acquireDomain(resource);
  if (busy) return domainBusy(busy);
  const startedAt = timestamp(clock.now());
  cached.startedAt = startedAt;
  cached.isUnclear = false;
  const fields = {
    ...NO_ENTRY,
    ...volumeStatus(volume),
    pendingFlow: { startedAt, ...measured(client), entryIDs: idsOfDomain(entries.values(), spec.domain) },
    ...recorded(entryHashes(reconcile.hashes), reconcile.key),
  };
  return inProgress(reconcile, undefined, 0, fields, events);
}

/**
 * Ends a flow that creates an entry and whose end was not observed. If it created an entry, the resource gets
 * it, in place of a former entry unless the answers have changed since. An entry that may be a user's can
 * only be adopted, and no other entry is created beside it.
 */
export async function endInterruptedFlow(reconcile: IntegrationReconcile): Promise<Outcome> {
  const { cached, client, context, draining, hashes, hub, key, resource, spec, status } = reconcile;
  if (draining) return inProgress(reconcile, undefined);
  const running = hub.runningFlow(resource);
  if (running) return domainBusy(running);
  const { made, unclear, later } = await endCreation(resource, client, hub);
  const { entryID, pendingFlow, configHash, answerHashes } = status;
  // Undefined if the former entry is gone: an integration may have made the hub replace it by the new one.
  const former = (await client.configEntries.all()).has(entryID ?? '') ? entryID : undefined;
  const adopted = former === undefined && !context.forced ? adoptableOf(unclear, spec) : undefined;
  cached.isUnclear = unclear.length > 0 && !adopted && !context.forced;
  if (cached.isUnclear) {
    const titles = unclear.map(({ title }) => title);
    return stalled('ConfigFlowFailed', unclearEntries(spec, titles, former !== undefined));
  }
  const isDue = entryID === undefined || pendingFlow?.configHash === entryHash(hashes, key);
  const found = adopted ?? (isDue || former === undefined ? made : undefined);
  const left = [...later, ...(adopted ? [] : unclear), ...(made && !found ? [made] : [])];
  const events = left.length > 0 ? [leftEntries(left)] : [];
  if (!found) return inProgress(reconcile, undefined, 0, { pendingFlow: null }, events);
  if (made && pendingFlow?.madeID === undefined) {
    hub.recordOwner(resource, made.entry_id);
    return inProgress(reconcile, undefined, 0, { pendingFlow: { ...pendingFlow, madeID: made.entry_id } });
  }
  if (!(await isCompleted(client, found))) return inProgress(reconcile, undefined, MOMENT);
  if (adopted) return adopt(reconcile, adopted, events);
  const sent = { hashes: entryHashes(hashes), key, events };
  if (former !== undefined) return replace(reconcile, found, former, sent);
  return entryID !== undefined && isDue
    ? takeOwnership(reconcile, found, sent)
    : takeOwnership(reconcile, found, { hashes: {}, key, events }, { configHash, answerHashes });
}

/** The part of a reconcile that determines which entry may be adopted. `kubectl hub diff` uses it too. */
type Adoption = Pick<IntegrationReconcile, 'client' | 'entries' | 'resource' | 'spec'> & {
  readonly hub: Pick<IntegrationContext, 'ownerOf'>;
};

/** An existing entry that the resource can adopt without a flow. */
export async function adoptable(reconcile: Adoption): Promise<ConfigEntry | undefined> {
  const { client, entries, spec } = reconcile;
  if (spec.adopt === 'Never') return undefined;
  const present = entriesOf(entries.values(), spec.domain);
  if (present.length === 0) return undefined;
  const title = desiredTitle(spec);
  const isOnlyOne = !isConfigured(spec) || (await client.configEntries.isSingle(spec.domain));
  const found = entryToAdopt(present, title, isOnlyOne, isOwned(reconcile));
  const options = chosenOptions(spec);
  if (!found || spec.title !== undefined || options.length === 0) return found;
  const entities = await client.connection.command('config/entity_registry/list');
  const ofEntry = entities.filter(({ config_entry_id: id }) => id === found.entry_id);
  const ids = ofEntry.map(({ entity_id: id }) => id);
  return isOfChosenType(ids, options) ? found : undefined;
}

/**
 * Adopts an entry. The hub does not return the answers of an entry, so they are assumed to be those of the
 * spec until the spec changes.
 */
export function adopt(
  reconcile: IntegrationReconcile,
  entry: ConfigEntry,
  events: readonly EventSpec[] = [],
): Outcome {
  const event = adoptedEvent(`${entry.domain} entry “${entry.title}”`);
  const hashes = entryHashes(reconcile.hashes);
  const acquired = { hashes, key: reconcile.key, events: [...events, event] };
  return takeOwnership(reconcile, entry, acquired, { adopted: true });
}

/** The hashes of an entry's answers, and their key. */
interface Acquired {
  readonly hashes: AnswerHashes;
  readonly key: string;
  readonly events?: readonly EventSpec[];
}

export function takeOwnership(
  reconcile: IntegrationReconcile,
  entry: ConfigEntry,
  { hashes, key, events = [] }: Acquired,
  status: Readonly<Record<string, unknown>> = {},
): Outcome {
  const { cached, clock, hub, resource, volume } = reconcile;
  hub.recordOwner(resource, entry.entry_id);
  hub.releaseDomain(resource.metadata.uid);
  cached.failures.clear();
  const fields = {
    ...NO_ENTRY,
    entryID: entry.entry_id,
    title: entry.title,
    entryState: entry.state,
    ...volumeStatus(volume),
    lastAppliedTime: timestamp(clock.now()),
    ...recorded(hashes, key),
    ...status,
  };
  return inProgress(reconcile, undefined, 0, fields, events);
}

/** Replaces the former entry by the new one. The former entry is removed next (removal.ts). */
export function replace(
  reconcile: IntegrationReconcile,
  entry: ConfigEntry,
  former: string,
  { hashes, key, events = [] }: Acquired,
  status: Readonly<Record<string, unknown>> = {},
): Outcome {
  const message = `The new answers made the ${entry.domain} entry “${entry.title}”, which takes the place of the former one: that is removed.`;
  const event: EventSpec = { type: 'Warning', reason: 'EntryRecreated', message };
  const pendingFlow = { startedAt: timestamp(reconcile.clock.now()), replaces: former };
  const acquired = { hashes, key, events: [...events, event] };
  return takeOwnership(reconcile, entry, acquired, { pendingFlow, ...status });
}

/** The entry that a flow's abort refers to, if no resource owns it. */
export function namedEntry(
  reconcile: IntegrationReconcile,
  { problem, changed = [] }: Failed,
): ConfigEntry | undefined {
  const { entries, spec } = reconcile;
  if (spec.adopt === 'Never' || problem.kind !== 'abort') return undefined;
  const present = entriesOf(entries.values(), spec.domain);
  return entryNamedBy(problem.key ?? '', present, spec, isOwned(reconcile), changed);
}

const isOwned =
  ({ hub, resource }: Adoption) =>
  (id: string): boolean =>
    hub.ownerOf(id, resource) !== undefined;

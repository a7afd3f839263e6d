import type { ConfigEntry } from '../../../client/flow-step';
import type { HubClient } from '../../../client/hub-client';
import { timestamp } from '../../../clock';
import { integration as definition } from '../../../kinds';
import { defaulted } from '../../../kinds/schema';
import type { EventSpec } from '../../../runtime/event-spec';
import { type Outcome, type Waiting, waiting } from '../../../runtime/outcome';
import type { Services } from '../../services';
import {
  chosenOptions,
  entriesMadeSince,
  entryToAdopt,
  freeEntries,
  isOfChosenType,
  desiredTitle,
} from './adoption';
import { type AnswerHashes, recorded } from '../answer-hashes';
import { createEntry } from './entry-flows';
import { DOMAIN_BUSY_REQUEUE, type HubContext, type IntegrationResource } from '../hub-context';
import type { OperationResult } from '../operation';
import { isOfTrial, isTrial } from '../pending-flow';
import { flowContext, inProgress, startOperation, stillFailed } from '../progress';
import { entryHashes, NO_ENTRY } from './status-fields';
import type { IntegrationReconcile } from '../integration-reconcile';

/** What a flow has made whose end was not observed. Neither: no entry. */
export interface InterruptedFlow {
  readonly made?: ConfigEntry;
  /** The flow may have made one of them, and a person any. */
  readonly unclear: readonly ConfigEntry[];
}

/** Gets a resource its entry: one that exists is adopted, or a config flow makes one. */
export class EntryAcquisition {
  constructor(private readonly services: Pick<Services, 'clock'>) {}

  /** No entry yet: one is adopted, or made. */
  async acquire(
    reconcile: IntegrationReconcile,
    entries: ReadonlyMap<string, ConfigEntry>,
  ): Promise<Outcome> {
    const { cached, client, hub, resource, status } = reconcile;
    const { pendingFlow } = status;
    if (pendingFlow) {
      const running = hub.runningFlow(resource);
      if (running) return domainBusy(running);
      if (cached.startedAt === pendingFlow.startedAt) return this.create(reconcile, pendingFlow.replaces);
      const { made, unclear } = await this.endPending(resource, client, hub);
      if (made) return this.own(reconcile, made, status.answerHashes ?? {}, {});
      const events = unclear.length > 0 ? [leftEntries(unclear)] : [];
      return pendingFlow.replaces === undefined
        ? inProgress(reconcile, undefined, 0, { pendingFlow: null }, events)
        : this.begin(reconcile, entries, pendingFlow.replaces, events);
    }
    // Asked before the entries are looked at: the hub shows an entry before it answers the flow that makes it.
    const maker = hub.otherFlow(resource);
    const found = cached.isRecreating ? undefined : await this.adoptable(reconcile, entries);
    if (found) return maker ? domainBusy(maker) : this.adopt(reconcile, found);
    const failed = stillFailed(reconcile, this.services.clock);
    if (failed) return failed;
    return this.begin(reconcile, entries);
  }

  /**
   * Records in status that a config flow is about to start.
   *
   * @param replaces the entry that is removed before
   */
  begin(
    reconcile: IntegrationReconcile,
    entries: ReadonlyMap<string, ConfigEntry>,
    replaces?: string,
    events: readonly EventSpec[] = [],
  ): Outcome {
    const { cached, hub, resource, spec } = reconcile;
    const busy = hub.acquireDomain(resource);
    if (busy) return domainBusy(busy);
    const startedAt = timestamp(this.services.clock.now());
    cached.startedAt = startedAt;
    const entryIDs = [...entries.values()]
      .filter((entry) => entry.domain === spec.domain)
      .map((entry) => entry.entry_id);
    const fields = {
      ...NO_ENTRY,
      pendingFlow: { startedAt, entryIDs, ...(replaces !== undefined && { replaces }) },
      ...recorded(entryHashes(reconcile.hashes), reconcile.key),
    };
    return inProgress(reconcile, undefined, 0, fields, events);
  }

  /** Ends the flow of a process that crashed, and finds what it made (rules.md, "Integrations"). */
  async endPending(
    resource: IntegrationResource,
    client: HubClient,
    hub: HubContext,
  ): Promise<InterruptedFlow> {
    const pendingFlow = resource.status!.pendingFlow!;
    const { entryIDs = [], flowID, kind, replaces } = pendingFlow;
    const wasOpen = flowID !== undefined && (await client.flows.abort('config', flowID));
    const spec = defaulted(definition.spec, resource.spec);
    const { domain } = spec;
    const entries = await client.configEntries.refreshed();
    // It is removed before the flow starts.
    if (kind === undefined && replaces !== undefined && entries.has(replaces)) return { unclear: [] };
    const free = freeEntries(entries.values(), domain, (id) => hub.ownerOf(id, resource) !== undefined);
    const found = entriesMadeSince(free, { domain, title: desiredTitle(spec) }, entryIDs, wasOpen);
    const [made, ...others] = found;
    if (!made || others.length > 0 || (isTrial(pendingFlow) && !isOfTrial(made, pendingFlow)))
      return { unclear: found };
    return { made, unclear: [] };
  }

  async adoptable(
    { client, hub, resource, spec }: IntegrationReconcile,
    entries: ReadonlyMap<string, ConfigEntry>,
  ): Promise<ConfigEntry | undefined> {
    if (spec.adopt === 'Never') return undefined;
    const { domain } = spec;
    const free = freeEntries(entries.values(), domain, (id) => hub.ownerOf(id, resource) !== undefined);
    const count = [...entries.values()].filter((entry) => entry.domain === domain).length;
    const found = entryToAdopt(free, { domain, title: desiredTitle(spec) }, count);
    const options = chosenOptions(spec);
    if (!found || spec.title !== undefined || options.length === 0) return found;
    const entities = await client.connection.command('config/entity_registry/list');
    const ofEntry = entities.filter(({ config_entry_id: id }) => id === found.entry_id);
    const isOfType = isOfChosenType(
      ofEntry.map(({ entity_id: id }) => id),
      options,
    );
    return isOfType ? found : undefined;
  }

  /** What the entry has cannot be seen: its answers count as those of the spec, until they change there. */
  adopt(reconcile: IntegrationReconcile, entry: ConfigEntry): Outcome {
    const message = `The hub already had the ${entry.domain} entry “${entry.title}”: it now belongs to this resource.`;
    const event: EventSpec = { type: 'Warning', reason: 'Adopted', message };
    return this.own(reconcile, entry, entryHashes(reconcile.hashes), { adopted: true }, reconcile.key, [
      event,
    ]);
  }

  own(
    reconcile: IntegrationReconcile,
    entry: ConfigEntry,
    hashes: AnswerHashes,
    status: Readonly<Record<string, unknown>>,
    key = reconcile.key,
    events: readonly EventSpec[] = [],
  ): Outcome {
    const { cached, hub, resource } = reconcile;
    hub.recordOwner(resource, entry.entry_id);
    hub.releaseDomain(resource.metadata.uid);
    cached.failure = undefined;
    cached.isRecreating = false;
    return inProgress(
      reconcile,
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

  /** The domain has a single instance, which no resource owns. */
  async existing(
    { client, hub, resource, spec }: IntegrationReconcile,
    { problem }: Extract<OperationResult, { readonly type: 'failed' }>,
  ): Promise<ConfigEntry | undefined> {
    if (spec.adopt === 'Never' || problem.key !== 'single_instance_allowed') return undefined;
    const entries = await client.configEntries.refreshed();
    const isOwned = (id: string) => hub.ownerOf(id, resource) !== undefined;
    const free = freeEntries(entries.values(), spec.domain, isOwned);
    return free.length === 1 ? free[0] : undefined;
  }

  private create(reconcile: IntegrationReconcile, replaces: string | undefined): Outcome {
    const { cached } = reconcile;
    cached.startedAt = undefined;
    cached.isRecreating = replaces !== undefined;
    const operation = startOperation(reconcile, this.services.clock, 'create', (running) =>
      createEntry(flowContext(reconcile, this.services.clock), replaces, running),
    );
    return inProgress(reconcile, operation);
  }
}

export function domainBusy({ metadata: { name }, spec: { domain } }: IntegrationResource): Waiting {
  const message = `Waiting for the config flow of ${name}: one of ${domain} runs at a time.`;
  return waiting('ConfigFlowInProgress', message, DOMAIN_BUSY_REQUEUE);
}

/** Entries that no resource takes after a crash: the flow may have made one of them, and a person may have. */
export function leftEntries(entries: readonly ConfigEntry[]): EventSpec {
  const titles = entries.map(({ title }) => `“${title}”`).join(', ');
  const [{ domain } = { domain: '' }] = entries;
  const message = `The operator was interrupted in a config flow of ${domain}. The hub has these entries since then: ${titles}. The flow or a person made them, so they are not touched: remove in the hub those that you do not need.`;
  return { type: 'Warning', reason: 'ConfigFlowFailed', message };
}

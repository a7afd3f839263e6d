import type { FlowRequest } from '../../client/config-flows';
import type { ConfigEntry, ConfigSubentry } from '../../client/flow-step';
import type { HubClient } from '../../client/hub-client';
import type { Clock } from '../../clock';
import type { HubIntegrationSpec } from '../../kinds/integration';
import { type AnswerHashes, changedAnswers, placeOf, subentryId } from './answer-hashes';
import type { Answer, Answers, SubentryAnswers } from './answers';
import type { FlowAnswers, FlowProblem } from './flow-navigator';
import { answerFlow, type FlowEnd, runFlow } from './flow-run';
import type { Operation, OperationResult } from './operation';
import type { FlowName } from './problem-text';

/** What the flows of one resource work on. */
export interface FlowWork {
  readonly client: HubClient;
  readonly clock: Clock;
  readonly spec: HubIntegrationSpec;
  readonly answers: Answers;
  /** Of the present answers. */
  readonly hashes: AnswerHashes;
}

/**
 * Creates an entry.
 *
 * @param replaces the entry that is removed before
 */
export async function createEntry(
  work: FlowWork,
  replaces: string | undefined,
  operation: Operation,
): Promise<OperationResult> {
  const { client, clock, spec, answers } = work;
  if (replaces !== undefined) await client.configEntries.remove(replaces);
  const flow: FlowName = { kind: 'config', domain: spec.domain };
  const end = await runFlow(
    client,
    { kind: 'config', domain: spec.domain },
    { steps: answers.steps, fields: answers.configuration },
    { clock, signal: operation.signal, onOpen: (flowId) => operation.open(flowId) },
  );
  if (end.type !== 'created') return failure(flow, end.problem);
  if (end.entry)
    return { type: 'created', entry: end.entry, unused: end.navigator.unused.map(({ id }) => id) };
  return failure(flow, { kind: 'answers', text: 'the hub did not show the entry that it made' });
}

/** Answers the flow by which the hub asks for other credentials. It stays open for a person if that fails. */
export async function reauthenticate(
  work: FlowWork,
  flowId: string,
  operation: Operation,
): Promise<OperationResult> {
  const { client, clock, spec, answers } = work;
  const step = await client.flows.read('config', flowId);
  const hooks = { clock, signal: operation.signal };
  const fields = [...answers.configuration, ...(answers.options ?? [])];
  const end = await answerFlow(client, 'config', step, lenient(answers, fields), hooks, true);
  const flow: FlowName = { kind: 'config', domain: spec.domain };
  if (isSuccess(end)) return { type: 'applied', applied: new Set(usedIds(end)) };
  return failure(flow, problemOf(end));
}

/**
 * Applies changed answers to an entry, so that it and its entities survive if the integration offers a way: its
 * reconfiguration, its options, its subentries (rules.md, "Integrations").
 */
export async function updateEntry(
  work: FlowWork,
  entry: ConfigEntry,
  before: AnswerHashes,
  isAdopted: boolean,
  operation: Operation,
): Promise<OperationResult> {
  return new EntryUpdate(work, entry, before, operation).run(isAdopted);
}

class EntryUpdate {
  /** Done so far. */
  private readonly applied = new Set<string>();
  private readonly changed: readonly string[];

  constructor(
    private readonly work: FlowWork,
    private readonly entry: ConfigEntry,
    private readonly before: AnswerHashes,
    private readonly operation: Operation,
  ) {
    this.changed = changedAnswers(before, work.hashes);
  }

  async run(isAdopted: boolean): Promise<OperationResult> {
    const { spec } = this.work;
    return (
      (await this.configuration()) ??
      (await this.options()) ??
      (await this.name()) ??
      this.remaining(isAdopted, spec.reconfigure === 'Recreate') ??
      (await this.subentries()) ?? { type: 'applied', applied: this.applied }
    );
  }

  /** Changed answers of the configuration that have not been applied. */
  private get left(): readonly string[] {
    return this.changed.filter((id) => {
      const { part } = placeOf(id);
      return (part === 'configuration' || part === 'steps') && !this.applied.has(id);
    });
  }

  private get changedOptions(): readonly string[] {
    return this.changed.filter((id) => placeOf(id).part === 'options');
  }

  private async configuration(): Promise<OperationResult | undefined> {
    const { spec, answers } = this.work;
    if (this.left.length === 0 || spec.reconfigure === 'Recreate' || !this.entry.supports_reconfigure)
      return undefined;
    const request: FlowRequest = {
      kind: 'config',
      domain: spec.domain,
      entryId: this.entry.entry_id,
    };
    return this.run1(request, { kind: 'config', domain: spec.domain }, answers.configuration);
  }

  /** Helpers have the fields of their configuration in their options. */
  private async options(): Promise<OperationResult | undefined> {
    const { spec, answers } = this.work;
    const changed = answers.options === undefined ? [] : this.changedOptions;
    const forConfiguration = spec.reconfigure === 'Recreate' ? [] : this.left;
    if (answers.options === undefined) for (const id of this.changedOptions) this.applied.add(id);
    if (changed.length === 0 && forConfiguration.length === 0) return undefined;
    const flow: FlowName = { kind: 'options', domain: spec.domain };
    if (!this.entry.supports_options) {
      if (changed.length === 0) return undefined;
      return this.failed(flow, {
        kind: 'answers',
        text: 'the integration has no options: remove spec.options',
      });
    }
    const fields = [...(answers.options ?? []), ...answers.configuration];
    const failed = await this.run1({ kind: 'options', entryId: this.entry.entry_id }, flow, fields, changed);
    return failed;
  }

  /** Helpers have their name as title, and no form to change it. */
  private async name(): Promise<OperationResult | undefined> {
    const { client, spec, answers } = this.work;
    if (spec.reconfigure === 'Recreate') return undefined;
    const id = this.left.find((each) => {
      const place = placeOf(each);
      const isChanged = this.before[each] !== undefined && this.work.hashes[each] !== undefined;
      return isChanged && 'field' in place && place.field === 'name';
    });
    const all = [...answers.configuration, ...answers.steps.flatMap((step) => step.answers)];
    const value = all.find((answer) => answer.id === id)?.value;
    if (id === undefined || value?.type !== 'text') return undefined;
    if (spec.title === undefined) await client.configEntries.setTitle(this.entry.entry_id, value.text);
    this.applied.add(id);
    return undefined;
  }

  /**
   * Answers that no form of the entry has. One that was removed is forgotten. Only a changed one that the entry was created
   * with, such as the choice in a menu, justifies another entry; one that was added alone is a mistake.
   */
  private remaining(isAdopted: boolean, isAskedFor: boolean): OperationResult | undefined {
    const { hashes, spec } = this.work;
    if (!isAskedFor) for (const id of this.left) if (hashes[id] === undefined) this.applied.add(id);
    const changed = this.left;
    if (changed.length === 0) return undefined;
    const flow: FlowName = { kind: 'config', domain: spec.domain };
    const isMistake = changed.every((id) => this.before[id] === undefined);
    if (isAskedFor) return { type: 'recreate', changed };
    const wayOut = 'or set spec.reconfigure to Recreate to have the entry removed and created again';
    if (isMistake) {
      const text = `no form of the existing entry asks for ${changed.join(', ')}: remove it, correct its name, ${wayOut}`;
      return this.failed(flow, { kind: 'answers', text });
    }
    if (!isAdopted) return { type: 'recreate', changed };
    const text = `no form of the existing entry has ${changed.join(', ')}, and an adopted entry is not removed: take the change back, ${wayOut}`;
    return this.failed(flow, { kind: 'answers', text });
  }

  private async subentries(): Promise<OperationResult | undefined> {
    const { client, answers } = this.work;
    const changed = this.changed.filter((id) => placeOf(id).part === 'subentries');
    if (answers.subentries === undefined) for (const id of changed) this.applied.add(id);
    if (!answers.subentries || changed.length === 0) return undefined;
    const entryId = this.entry.entry_id;
    const present = await client.configEntries.subentries(entryId);
    const find = (id: string) =>
      present.find(({ subentry_type: type, title }) => subentryId({ type, title }) === id);
    for (const id of changed) {
      const desired = answers.subentries.find((each) => subentryId(each) === id);
      const existing = find(id);
      const failed = desired
        ? await this.subentry(desired, existing)
        : existing && (await client.configEntries.removeSubentry(entryId, existing.subentry_id));
      if (failed) return failed;
      this.applied.add(id);
    }
    return undefined;
  }

  private async subentry(
    desired: SubentryAnswers,
    existing: ConfigSubentry | undefined,
  ): Promise<OperationResult | undefined> {
    const { client, spec } = this.work;
    const { entry_id: entryId, supported_subentry_types: types } = this.entry;
    const { type, title } = desired;
    const flow: FlowName = { kind: 'subentries', domain: spec.domain, type };
    if (!types[type]) {
      const names = Object.keys(types).join(', ') || 'none';
      return this.failed(flow, {
        kind: 'answers',
        text: `the entry has no subentries of the type ${type} (it has: ${names})`,
      });
    }
    const isNew = this.before[subentryId(desired)] === undefined;
    if (existing && isNew && !types[type].supports_reconfigure) return undefined; // made before a crash, or by a person
    if (existing && !types[type].supports_reconfigure)
      await client.configEntries.removeSubentry(entryId, existing.subentry_id);
    const reconfigured = existing && types[type].supports_reconfigure ? existing.subentry_id : undefined;
    const request: FlowRequest = {
      kind: 'subentries',
      entryId,
      type,
      ...(reconfigured !== undefined && { subentryId: reconfigured }),
    };
    const before = new Set((await client.configEntries.subentries(entryId)).map((each) => each.subentry_id));
    const end = await this.flow(request, { steps: [], fields: withTitle(desired), lenient: true });
    if (!isSuccess(end)) return this.failed(flow, problemOf(end));
    const [unused] = end.navigator.unused.filter(({ id }) => id !== 'title');
    const after = await client.configEntries.subentries(entryId);
    const made = after.find((each) => each.subentry_id === reconfigured || !before.has(each.subentry_id));
    if (made && made.title !== title)
      await client.configEntries.setSubentryTitle(entryId, made.subentry_id, title);
    if (!unused) return undefined;
    const text = `no form asks for ${unused.id}: remove it or correct its name`;
    return this.failed(flow, { kind: 'answers', field: unused.field, text });
  }

  /** Runs a flow of the entry, and takes the answers that it used as applied, and `extra` with them. */
  private async run1(
    request: FlowRequest,
    name: FlowName,
    fields: readonly Answer[],
    extra: readonly string[] = [],
  ): Promise<OperationResult | undefined> {
    const { answers } = this.work;
    const removed = this.changed.filter((id) => this.work.hashes[id] === undefined);
    const cleared = new Set(
      removed.flatMap((id) => {
        const place = placeOf(id);
        return 'field' in place && place.field !== undefined ? [place.field] : [];
      }),
    );
    const end = await this.flow(request, { ...lenient(answers, fields), cleared });
    if (!isSuccess(end)) return this.failed(name, problemOf(end));
    const { seen } = end.navigator;
    const isSeen = (id: string) => {
      const place = placeOf(id);
      return 'field' in place && place.field !== undefined && seen.has(place.field);
    };
    const unused = extra.filter((id) => !removed.includes(id) && !end.navigator.used.has(id));
    for (const id of [...usedIds(end), ...removed.filter(isSeen), ...extra]) this.applied.add(id);
    if (unused.length === 0) return undefined;
    const text = `no form asks for ${unused.join(', ')}: remove it or correct its name`;
    for (const id of unused) this.applied.delete(id);
    return this.failed(name, { kind: 'answers', text });
  }

  private flow(request: FlowRequest, answers: FlowAnswers): Promise<FlowEnd> {
    const { client, clock } = this.work;
    return runFlow(client, request, answers, { clock, signal: this.operation.signal });
  }

  private failed(flow: FlowName, problem: FlowProblem): OperationResult {
    return { type: 'failed', flow, problem, applied: this.applied };
  }
}

/** A flow of an entry that exists has other steps than the one that made it. */
function lenient({ steps }: Answers, fields: readonly Answer[]): FlowAnswers {
  return { steps, fields, lenient: true };
}

/** The form of a subentry often asks for its title as `name`. */
function withTitle({ title, answers }: SubentryAnswers): readonly Answer[] {
  const named = answers.some(({ field }) => field === 'name');
  return named ? answers : [...answers, { id: 'title', field: 'name', value: { type: 'text', text: title } }];
}

/** A reconfiguration ends with an abort, too. */
function isSuccess(end: FlowEnd): boolean {
  return end.type === 'created' || (end.type === 'aborted' && /_success(ful)?$/.test(end.problem.key ?? ''));
}

function problemOf(end: FlowEnd): FlowProblem {
  return end.type === 'created' ? { kind: 'answers' } : end.problem;
}

const usedIds = ({ navigator }: FlowEnd): readonly string[] => [...navigator.used];

function failure(flow: FlowName, problem: FlowProblem): OperationResult {
  return { type: 'failed', flow, problem, applied: new Set() };
}

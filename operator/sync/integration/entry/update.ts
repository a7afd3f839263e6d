import type { FlowRequest } from '../../../client/config-flows';
import type { ConfigEntry } from '../../../client/flow-step';
import { type AnswerHashes, changedAnswers, incompleteHash, isIncomplete, placeOf } from '../answer-hashes';
import type { Answer } from '../answers';
import type { FlowAnswers, FlowProblem } from '../flow/navigator';
import { type FlowEnd, runFlow } from '../flow/run';
import { type FlowContext, isSuccess, lenient, problemOf, usedIds } from '../flow-context';
import type { Applied, Operation, OperationResult } from '../operation';
import type { FlowName } from '../flow/problem-text';
import { SubentryUpdate } from './subentries';
import { trialProblem } from '../trial';

/**
 * Applies changed answers to an entry, so that it and its entities survive if the integration offers a way: its
 * reconfiguration, its options, its subentries (rules.md, "Integrations").
 */
export async function updateEntry(
  flowContext: FlowContext,
  entry: ConfigEntry,
  before: AnswerHashes,
  isAdopted: boolean,
  operation: Operation,
): Promise<OperationResult> {
  return new EntryUpdate(flowContext, entry, before, operation).run(isAdopted);
}

class EntryUpdate {
  /** Done so far. */
  private readonly applied = new Set<string>();
  private readonly adopted = new Set<string>();
  private readonly incomplete = new Set<string>();
  private readonly changed: readonly string[];

  constructor(
    private readonly flowContext: FlowContext,
    private readonly entry: ConfigEntry,
    private readonly before: AnswerHashes,
    private readonly operation: Operation,
  ) {
    this.changed = changedAnswers(before, flowContext.hashes);
  }

  async run(isAdopted: boolean): Promise<OperationResult> {
    const { spec } = this.flowContext;
    return (
      (await this.configuration()) ??
      (await this.options()) ??
      (await this.name()) ??
      (await this.remaining(isAdopted, spec.reconfigure === 'Recreate')) ??
      (await this.subentries()) ?? {
        type: 'applied',
        applied: this.done,
      }
    );
  }

  private get done(): Applied {
    return { ids: this.applied, adopted: this.adopted, incomplete: this.incomplete };
  }

  /** Changed answers of the configuration that have not been applied. */
  private get left(): readonly string[] {
    return this.changed.filter((id) => {
      const { part } = placeOf(id);
      return (part === 'configuration' || part === 'steps') && !this.applied.has(id);
    });
  }

  /** Whether the entry has had an answer of that id. */
  private isKnown(id: string): boolean {
    return this.before[id] !== undefined && !isIncomplete(this.before[id]);
  }

  private get changedOptions(): readonly string[] {
    return this.changed.filter((id) => placeOf(id).part === 'options');
  }

  private async configuration(): Promise<OperationResult | undefined> {
    const { spec, answers } = this.flowContext;
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
    const { spec, answers } = this.flowContext;
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
    const { client, spec, answers } = this.flowContext;
    if (spec.reconfigure === 'Recreate') return undefined;
    const id = this.left.find((each) => {
      const place = placeOf(each);
      const isChanged = this.isKnown(each) && this.flowContext.hashes[each] !== undefined;
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
  private async remaining(isAdopted: boolean, isAskedFor: boolean): Promise<OperationResult | undefined> {
    const { hashes, spec } = this.flowContext;
    for (const id of this.left)
      if (hashes[id] === undefined && (!isAskedFor || isIncomplete(this.before[id]))) this.applied.add(id);
    const changed = this.left;
    if (changed.length === 0) return undefined;
    const flow: FlowName = { kind: 'config', domain: spec.domain };
    const added = changed.filter((id) => !this.isKnown(id));
    const isMistake = added.length === changed.length;
    // The entry was created with them, and no form asked for them.
    const isWithoutEffect = changed.every((id) => this.before[id] === incompleteHash(hashes[id]!));
    if (isAskedFor && isWithoutEffect) {
      const text = `no form asks for ${changed.join(', ')}: remove it or correct its name`;
      return this.failed(flow, { kind: 'answers', text });
    }
    if (isAskedFor) return this.recreate(flow, changed, []);
    const wayOut = 'or set spec.reconfigure to Recreate to have the entry removed and created again';
    if (isMistake) {
      const text = `no form of the existing entry asks for ${changed.join(', ')}: remove it, correct its name, ${wayOut}`;
      return this.failed(flow, { kind: 'answers', text });
    }
    if (!isAdopted) return this.recreate(flow, changed, added);
    const text = `no form of the existing entry has ${changed.join(', ')}, and an adopted entry is not removed: take the change back, ${wayOut}`;
    return this.failed(flow, { kind: 'answers', text });
  }

  private async subentries(): Promise<OperationResult | undefined> {
    const { answers, spec } = this.flowContext;
    const changed = this.changed.filter((id) => placeOf(id).part === 'subentries');
    if (changed.length === 0) return undefined;
    if (!answers.subentries) {
      for (const id of changed) this.applied.add(id);
      return undefined;
    }
    const update = new SubentryUpdate(this.flowContext, this.entry, this.before, this.operation);
    const failed = await update.run(answers.subentries, changed);
    for (const id of update.applied) this.applied.add(id);
    for (const id of update.adopted) this.adopted.add(id);
    for (const id of update.incomplete) this.incomplete.add(id);
    return (
      failed && this.failed({ kind: 'subentries', domain: spec.domain, type: failed.type }, failed.problem)
    );
  }

  /** What would fail without an entry fails before the entry is removed. */
  private async recreate(
    flow: FlowName,
    changed: readonly string[],
    unconfirmed: readonly string[],
  ): Promise<OperationResult> {
    const problem = await trialProblem(this.flowContext, unconfirmed, this.operation);
    return problem ? this.failed(flow, problem) : { type: 'recreate', changed, applied: this.done };
  }

  /** Runs a flow of the entry, and takes the answers that it used as applied, and `extra` with them. */
  private async run1(
    request: FlowRequest,
    name: FlowName,
    fields: readonly Answer[],
    extra: readonly string[] = [],
  ): Promise<OperationResult | undefined> {
    const { answers } = this.flowContext;
    const removed = this.changed.filter((id) => this.flowContext.hashes[id] === undefined);
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
    const { client, clock } = this.flowContext;
    const onOpen = (flowID: string) => this.operation.record({ kind: request.kind, flowID });
    return runFlow(client, request, answers, { clock, signal: this.operation.signal, onOpen });
  }

  private failed(flow: FlowName, problem: FlowProblem): OperationResult {
    return { type: 'failed', flow, problem, applied: this.done };
  }
}

import type { FlowRequest } from '../../../client/entries/config-flows';
import type { ConfigEntry, FlowKind } from '../../../client/connection/flow-step';
import { type AnswerHashes, changedAnswers, isOfEntry, placeOf } from '../answer-hashes';
import type { FlowAnswers, FlowProblem } from '../flow/navigator';
import { isSuccess, problemOf, runFlow } from '../flow/run';
import type { IntegrationReconcile } from '../integration-context';
import { type Failed, noneApplied, type FlowOperation, type OperationResult } from '../operation';
import { runAgain } from './creation';
import { SubentryUpdate } from './subentries';

/**
 * Applies changed answers to an entry by its reconfiguration, its options and its subentries, so that the
 * entry and its entities are kept (rules.md, "Integrations").
 */
export class EntryUpdate {
  private readonly done = noneApplied();
  private readonly changed: readonly string[];
  private readonly isRecreated: boolean;

  /** @param before hashes of the entry's answers */
  constructor(
    private readonly reconcile: IntegrationReconcile,
    private readonly entry: ConfigEntry,
    private readonly before: AnswerHashes,
    private readonly operation: FlowOperation,
  ) {
    this.changed = changedAnswers(before, reconcile.hashes);
    this.isRecreated = reconcile.spec.reconfigure === 'Recreate';
  }

  async run(): Promise<OperationResult> {
    return (
      (await this.configuration()) ??
      (await this.options()) ??
      (await this.name()) ??
      (await this.remaining()) ??
      (await this.subentries()) ?? { type: 'applied', applied: this.done }
    );
  }

  /** Changed answers of the configuration that have not been applied. */
  private get left(): readonly string[] {
    return this.changed.filter((id) => isOfEntry(id) && !this.done.ids.has(id));
  }

  /** Reports whether the entry was created with an answer of that id. */
  private isKnown(id: string): boolean {
    return this.before[id] !== undefined;
  }

  /**
   * Reconfigures the entry. If answers were only added, they may be mistakes, so nothing is sent unless a
   * form asks for one of them.
   */
  private async configuration(): Promise<OperationResult | undefined> {
    const { spec, answers } = this.reconcile;
    if (this.left.length === 0 || this.isRecreated || !this.entry.supports_reconfigure) return undefined;
    const request: FlowRequest = { kind: 'config', domain: spec.domain, entryId: this.entry.entry_id };
    const mustAskFor = this.left.some((id) => this.isKnown(id)) ? undefined : new Set(this.left);
    return this.runFlow(request, { fields: answers.configuration }, mustAskFor);
  }

  /** Changes the options. Helpers have the fields of their configuration in their options too. */
  private async options(): Promise<OperationResult | undefined> {
    const { answers } = this.reconcile;
    const changed = this.changed.filter((id) => placeOf(id).part === 'options');
    const request: FlowRequest = { kind: 'options', entryId: this.entry.entry_id };
    const fields = { first: answers.options ?? [], fields: answers.configuration };
    if (answers.options === undefined) for (const id of changed) this.done.ids.add(id);
    else if (changed.length > 0) {
      if (this.entry.supports_options) return this.runFlow(request, fields, undefined, changed);
      return this.failed('options', 'the integration has no options: remove spec.options');
    }
    if (this.isRecreated || this.left.length === 0 || !this.entry.supports_options) return undefined;
    return this.runFlow(request, fields, new Set(this.left));
  }

  /** Sets the title of a helper whose name has changed, since helpers have no form for their name. */
  private async name(): Promise<OperationResult | undefined> {
    const { client, spec, answers, hashes } = this.reconcile;
    if (this.isRecreated) return undefined;
    const id = this.left.find(
      (each) => this.isKnown(each) && hashes[each] !== undefined && placeOf(each).field === 'name',
    );
    const all = [...answers.configuration, ...answers.steps.flatMap((step) => step.answers)];
    const value = all.find((answer) => answer.id === id)?.value;
    if (id === undefined || value?.type !== 'text') return undefined;
    this.operation.assertDesired();
    if (spec.title === undefined) await client.configEntries.setTitle(this.entry.entry_id, value.text);
    this.done.ids.add(id);
    return undefined;
  }

  /**
   * Handles answers that no form of the entry accepts. A removed answer is forgotten, and an answer that was
   * only added is reported as a mistake.
   */
  private async remaining(): Promise<OperationResult | undefined> {
    const { hashes } = this.reconcile;
    if (!this.isRecreated) for (const id of this.left) if (hashes[id] === undefined) this.done.ids.add(id);
    const { left } = this;
    if (left.length === 0) return undefined;
    if (left.every((id) => !this.isKnown(id)))
      return this.failed(
        'config',
        `no form of the entry asks for ${left.join(', ')}, so the entry works without it: remove it or correct its name`,
      );
    if (this.isRecreated) {
      const result = await runAgain(this.reconcile, this.entry, left, this.operation);
      if (result.type === 'applied') for (const id of result.applied.ids) this.done.ids.add(id);
      if (result.type === 'failed') return { ...result, applied: this.done };
      return result.type === 'applied' ? undefined : result;
    }
    const text = `no form of the existing entry takes the change of ${left.join(', ')}: take it back, or set spec.reconfigure to Recreate. That replaces the entry: ${await this.cost()}`;
    return { ...this.failed('config', text), reason: 'RecreateRequired' };
  }

  /** Describes the things that a user may lose with the entry. */
  private async cost(): Promise<string> {
    const { client } = this.reconcile;
    const entities = await client.connection.command('config/entity_registry/list');
    const count = entities.filter(({ config_entry_id: id }) => id === this.entry.entry_id).length;
    return `its ${count === 1 ? 'entity' : `${count} entities`}, with their names, areas and settings, and its devices may be lost`;
  }

  private async subentries(): Promise<OperationResult | undefined> {
    const { subentries } = this.reconcile.answers;
    const changed = this.changed.filter((id) => placeOf(id).part === 'subentries');
    if (!subentries) for (const id of changed) this.done.ids.add(id);
    if (!subentries || changed.length === 0) return undefined;
    const update = new SubentryUpdate(this.reconcile, this.entry, this.before, this.operation, this.done);
    const failed = await update.run(subentries, changed);
    if (!failed) return undefined;
    const reason = update.isRecreateRequired ? ({ reason: 'RecreateRequired' } as const) : {};
    return { ...this.failed('subentries', failed.problem, failed.type), ...reason };
  }

  /**
   * Runs a flow of the entry, and records the answers that it used as applied.
   *
   * @param mustAskFor ids of answers; nothing is sent unless a form asks for one of them
   * @param expected ids of answers that some form has to ask for
   */
  private async runFlow(
    request: FlowRequest,
    given: Pick<FlowAnswers, 'fields' | 'first'>,
    mustAskFor: ReadonlySet<string> | undefined,
    expected: readonly string[] = [],
  ): Promise<OperationResult | undefined> {
    const { answers, client, hashes, status } = this.reconcile;
    const removed = this.changed.filter((id) => hashes[id] === undefined);
    const cleared = new Set(removed.flatMap((id) => placeOf(id).field ?? []));
    const { unshownSteps = [] } = status;
    const isNew = (id: string) => unshownSteps.includes(id) || !this.isKnown(id);
    const choices = new Set(Object.keys(hashes).filter(isNew));
    const all = { ...given, steps: answers.steps, cleared, ofEntry: { choices, mustAskFor } };
    const { kind } = request;
    const end = await runFlow(client, request, all, this.operation.hooks({ kind }));
    const { used, seen } = end.navigator;
    const problem = problemOf(end);
    if (!isSuccess(end))
      return problem.kind === 'unasked' && expected.length === 0 ? undefined : this.failed(kind, problem);
    const isDone = (id: string) => expected.includes(id) || seen.has(placeOf(id).field ?? '');
    for (const id of [...used, ...removed.filter(isDone)]) this.done.ids.add(id);
    const unused = expected.filter((id) => !removed.includes(id) && !used.has(id));
    if (unused.length === 0) return undefined;
    return this.failed(kind, `no form asks for ${unused.join(', ')}: remove it or correct its name`);
  }

  /** @param type type of the subentry, if the failure concerns one */
  private failed(kind: FlowKind, fault: FlowProblem | string, type?: string): Failed {
    const flow = { kind, domain: this.reconcile.spec.domain, ...(type !== undefined && { type }) };
    const problem = typeof fault === 'string' ? ({ kind: 'answers', text: fault } as const) : fault;
    return { type: 'failed', flow, problem, applied: this.done };
  }
}

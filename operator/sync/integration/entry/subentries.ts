import type { FlowRequest } from '../../../client/entries/config-flows';
import type { ConfigEntry, ConfigSubentry } from '../../../client/connection/flow-step';
import type { PendingFlow } from '../../../kinds/integration';
import { type AnswerHashes, isIncompleteOf, subentryHash, subentryId } from '../answer-hashes';
import type { Answer } from '../../../client/entries/forms/answer';
import type { SubentryAnswers } from '../answers';
import type { IntegrationReconcile } from '../integration-context';
import type { FlowProblem } from '../flow/navigator';
import { type FlowEnd, isSuccess, problemOf, runFlow } from '../flow/run';
import type { Applied, FlowOperation } from '../operation';

/** Creates, changes and removes the subentries of an entry one after the other, until one was created. */
export class SubentryUpdate {
  /**
   * True if the first problem is a subentry that can only be replaced, which `reconfigure` does not allow.
   */
  isRecreateRequired = false;
  private hasMade = false;

  /** @param done receives the changes that are made */
  constructor(
    private readonly reconcile: IntegrationReconcile,
    private readonly entry: ConfigEntry,
    private readonly before: AnswerHashes,
    private readonly operation: FlowOperation,
    private readonly done: Applied,
  ) {}

  /**
   * Applies or removes the changed subentries.
   *
   * @returns the type of a subentry that does not match the spec, and the problem; undefined if all match
   */
  async run(desired: readonly SubentryAnswers[], changed: readonly string[]) {
    for (const id of changed) {
      this.operation.assertDesired();
      const subentry = desired.find((each) => subentryId(each) === id);
      const problem = subentry ? await this.ensure(subentry) : await this.remove(id);
      if (problem) return { type: subentry!.type, problem };
      this.done.ids.add(id);
      // Status has to record the new subentry before the next one is created: after a crash it would count as
      // a user's.
      if (this.hasMade) break;
    }
    return undefined;
  }

  private async present(): Promise<readonly ConfigSubentry[]> {
    return this.reconcile.client.configEntries.subentries(this.entry.entry_id);
  }

  private async find(id: string): Promise<ConfigSubentry | undefined> {
    const present = await this.present();
    return present.find(({ subentry_type: type, title }) => subentryId({ type, title }) === id);
  }

  /** Removes a subentry that is no longer in the spec. */
  private async remove(id: string): Promise<undefined> {
    const { client, spec, status } = this.reconcile;
    const { deletionPolicy } = spec;
    const isAdopted = status.adoptedSubentries?.includes(id) ?? false;
    if (deletionPolicy === 'Orphan' || (isAdopted && deletionPolicy !== 'Delete')) return undefined;
    const existing = await this.find(id);
    if (existing) await client.configEntries.removeSubentry(this.entry.entry_id, existing.subentry_id);
    return undefined;
  }

  private async ensure(desired: SubentryAnswers): Promise<FlowProblem | undefined> {
    const { hashes, spec } = this.reconcile;
    const { supported_subentry_types: types = {} } = this.entry;
    const { type, title } = desired;
    const id = subentryId(desired);
    const supported = types[type];
    if (!supported) {
      const names = Object.keys(types).join(', ') || 'none';
      return failed(`the entry has no subentries of the type ${type} (it has: ${names})`);
    }
    const existing = await this.find(id);
    if (!existing) return this.create(desired, undefined);
    if (this.before[id] === undefined) {
      const text = `the entry has a ${type} “${title}” that is not of this resource, and spec.adopt is Never`;
      if (spec.adopt === 'Never') return failed(text);
      this.done.adopted.add(id);
      return undefined;
    }
    if (isIncompleteOf(this.before[id], hashes[id]!))
      return failed(`no form asks for one of the values of ${id}: remove it or correct its name`);
    if (supported.supports_reconfigure) return this.reconfigure(desired, existing.subentry_id);
    this.isRecreateRequired = spec.reconfigure !== 'Recreate';
    if (this.isRecreateRequired)
      return failed(
        `the ${type} “${title}” cannot be changed: take the change back, or set spec.reconfigure to Recreate. That replaces the subentry: its entities and devices may be lost`,
      );
    return this.create(desired, existing.subentry_id);
  }

  private async reconfigure(desired: SubentryAnswers, id: string): Promise<FlowProblem | undefined> {
    const end = await this.flow(desired, { subentryId: id }, {});
    if (!isSuccess(end)) return problemOf(end);
    await this.setTitle(desired, id);
    return this.finish(desired, end);
  }

  /**
   * @param replaced the present subentry, which cannot be changed; it is removed when the new one exists, or
   * before if the hub does not allow both
   */
  private async create(
    desired: SubentryAnswers,
    replaced: string | undefined,
  ): Promise<FlowProblem | undefined> {
    const { client, hashes } = this.reconcile;
    const { type, title } = desired;
    const present = await this.present();
    const subentryIDs = present.map((each) => each.subentry_id);
    const hash = hashes[subentryId(desired)]!;
    const replaces = replaced === undefined ? {} : { replaces: replaced };
    const subentry = { type, title, hash, subentryIDs, ...replaces };
    const end = await this.flow(desired, {}, { subentry });
    const isTaken = end.type === 'aborted' && /^already_/.test(end.problem.key ?? '');
    const isOnlyOne = present.filter((each) => each.subentry_type === type).length === 1;
    const hasSecret = desired.answers.some(({ isSecret }) => isSecret);
    // The present subentry is not removed if the hub does not say which of several it means, or may not have
    // tried a Secret's value yet.
    if (replaced !== undefined && isOnlyOne && !hasSecret && isTaken) {
      await client.configEntries.removeSubentry(this.entry.entry_id, replaced);
      return this.create(desired, undefined);
    }
    if (!isSuccess(end)) return problemOf(end);
    // The flow found the former subentry and changed it instead of creating another one.
    if (end.type === 'aborted') return this.finish(desired, end);
    const isNew = (each: ConfigSubentry) =>
      each.subentry_type === type && !subentryIDs.includes(each.subentry_id);
    const [made, ...others] = (await this.present()).filter(isNew);
    this.hasMade = true;
    // The hub does not say which subentry the flow created, and a user created another one at the same time.
    if (others.length > 0)
      return { kind: 'lost', text: `the hub does not say which one of the new ${type}s the flow has made` };
    if (made) await this.setTitle(desired, made.subentry_id);
    if (made && replaced !== undefined)
      await client.configEntries.removeSubentry(this.entry.entry_id, replaced);
    return this.finish(desired, end);
  }

  private finish(desired: SubentryAnswers, { navigator }: FlowEnd): FlowProblem | undefined {
    const unused = navigator.unused.filter(({ id }) => id !== TITLE);
    const [first] = unused;
    if (!first) return undefined;
    const ids = unused.map(({ id }) => id);
    const used = { ...desired, answers: desired.answers.filter(({ id }) => !ids.includes(id)) };
    this.done.ids.add(subentryId(desired));
    this.done.incomplete.set(subentryId(desired), subentryHash(used, this.reconcile.key));
    const text = `no form asks for ${first.id}: remove it or correct its name`;
    return { kind: 'answers', field: first.field, text };
  }

  private async setTitle({ title }: SubentryAnswers, id: string): Promise<void> {
    const present = (await this.present()).find((each) => each.subentry_id === id);
    if (present && present.title !== title)
      await this.reconcile.client.configEntries.setSubentryTitle(this.entry.entry_id, id, title);
  }

  private async flow(
    desired: SubentryAnswers,
    request: Pick<Extract<FlowRequest, { kind: 'subentries' }>, 'subentryId'>,
    pending: Pick<PendingFlow, 'subentry'>,
  ): Promise<FlowEnd> {
    const { client } = this.reconcile;
    const flow = { kind: 'subentries', ...pending };
    // The flow is recorded before it starts, since a flow without a question creates the subentry
    // immediately.
    if (pending.subentry) await this.operation.record(flow);
    return runFlow(
      client,
      { kind: 'subentries', entryId: this.entry.entry_id, type: desired.type, ...request },
      { steps: [], fields: withTitle(desired), ofEntry: { choices: new Set() } },
      this.operation.hooks(flow),
    );
  }
}

/** Id of the answer with the title. */
const TITLE = 'title';

/** Adds the title to the answers, since the form of a subentry often asks for it as `name`. */
function withTitle({ title, answers }: SubentryAnswers): readonly Answer[] {
  const named = answers.some(({ field }) => field === 'name');
  return named ? answers : [...answers, { id: TITLE, field: 'name', value: { type: 'text', text: title } }];
}

const failed = (text: string): FlowProblem => ({ kind: 'answers', text });

import { isDeepStrictEqual } from 'node:util';
import type { ConfigEntry } from '../../../client/connection/flow-step';
import { integration as definition } from '../../../kinds';
import type { Outcome } from '../../../runtime/outcome';
import { DriftPolicy } from '../../objects/drift-policy';
import type { Services } from '../../services';
import {
  type AnswerHashes,
  changedAnswers,
  isComparable,
  recorded,
  subentryId,
  withIneffective,
  withMoves,
  withNewKey,
} from '../answer-hashes';
import { type IntegrationReconcile, makesEntry, MOMENT } from '../integration-context';
import { inProgress, startOperation, stillFailed, withStatus } from '../progress';
import { rejectionHash } from '../retry';
import { endInterruptedFlow } from './acquisition';
import { endUpdate } from './interrupted';
import { awaitsPerson, reauthenticate } from './reauthentication';
import { finishReplacement } from './removal';
import { appliedHash, DISABLED, disabledOutcome, entryOutcome, NO_ENTRY, seenStatus } from './status';
import { EntryUpdate } from './update';

/**
 * Maintains an entry: changed answers are applied, drift is corrected or reported, and the state of the entry
 * becomes the outcome.
 */
export class EntryMaintenance {
  private readonly drift: DriftPolicy;

  constructor(services: Pick<Services, 'clock' | 'metrics'>) {
    this.drift = new DriftPolicy(services, definition);
  }

  /** Maintains the entry that status names. */
  async maintain(reconcile: IntegrationReconcile, entryId: string): Promise<Outcome> {
    const { client, entries, hub, key, resource, status } = reconcile;
    const { pendingFlow } = status;
    if (pendingFlow?.replaces !== undefined) return finishReplacement(reconcile, pendingFlow.replaces);
    if (pendingFlow && makesEntry(pendingFlow)) return endInterruptedFlow(reconcile);
    const entry = entries.get(entryId) ?? (await client.configEntries.refreshed()).get(entryId);
    if (!entry) return this.onMissing(reconcile, entryId);
    hub.recordOwner(resource, entryId);
    if (pendingFlow) return endUpdate(reconcile, entry, pendingFlow);
    // The key was lost, so no answers can be compared, and recorded ones count as unchanged. Answers that
    // were not recorded still have to be applied.
    if (!isComparable(status.configHash, key)) {
      const known = recorded(withNewKey(status.answerHashes ?? {}, reconcile.hashes), key);
      return inProgress(reconcile, undefined, 0, { ...seenStatus(reconcile, entry), ...known });
    }
    return this.apply(reconcile, entry);
  }

  private async apply(reconcile: IntegrationReconcile, entry: ConfigEntry): Promise<Outcome> {
    const { cached, client, hashes, key, previous, spec, status } = reconcile;
    const seen = seenStatus(reconcile, entry);
    const difference = await this.correctEntry(reconcile, entry);
    if (difference && 'outcome' in difference) return difference.outcome;
    const drift = difference?.drift;
    if (entry.disabled_by !== null) return drift ?? withStatus(disabledOutcome(entry), seen);
    const applied = status.answerHashes ?? {};
    const known = appliedAnswers(reconcile);
    const lost = await lostSubentries(reconcile, entry, known);
    const isLeft = spec.driftPolicy === 'Warn';
    // A subentry that has to be created again counts as not applied.
    const before = isLeft ? known : without(known, lost);
    const isChanged = changedAnswers(before, hashes).length > 0;
    const reauth = await client.flowsInProgress.reauthOf(entry.entry_id);
    const person = reauth === undefined ? undefined : awaitsPerson(reconcile, reauth);
    const isAsked = reauth !== undefined && !person;
    // Changed answers may solve a request for credentials, for example another host. But an entry is not
    // replaced only because of that request.
    const isApplicable = entry.supports_reconfigure && spec.reconfigure !== 'Recreate';
    const isUpdate = isChanged && (!isAsked || isApplicable);
    const failed = isUpdate ? stillFailed(reconcile) : undefined;
    if (isAsked && (!isUpdate || failed))
      return withStatus(stillFailed(reconcile, 'reauth') ?? reauthenticate(reconcile, reauth), seen);
    if (failed) return withStatus(failed, seen);
    if (isUpdate) return this.update(reconcile, entry, before, isLeft ? [] : lost, drift ? {} : seen);
    if (person) return withStatus(person, seen);
    cached.failures.clear();
    // Answers that only moved in the spec have new ids.
    const moved = { ...recorded(before, key), ...appliedHash(before) };
    const fields = isDeepStrictEqual(before, applied) ? seen : { ...seen, ...moved };
    if (drift) return drift;
    if (lost.length > 0) {
      const what = `${removedSubentries(entry, lost)} driftPolicy is Warn: it stays so.`;
      return withStatus(this.drift.reportLeft(reconcile.resource, what), fields);
    }
    return withStatus(entryOutcome(entry, previous), fields);
  }

  /**
   * Starts the operation that applies changed answers.
   *
   * @param before answers that count as applied
   * @param lost subentries that the operation creates again
   * @param fields status fields
   */
  private update(
    reconcile: IntegrationReconcile,
    entry: ConfigEntry,
    before: AnswerHashes,
    lost: readonly string[],
    fields: Readonly<Record<string, unknown>>,
  ): Outcome {
    if (reconcile.draining) return inProgress(reconcile, undefined);
    const operation = startOperation(reconcile, 'update', (running) =>
      new EntryUpdate(reconcile, entry, before, running).run(),
    );
    const what = `${removedSubentries(entry, lost)} They are created again.`;
    const events = lost.length === 0 ? [] : [this.drift.reportCorrected(what)];
    return inProgress(reconcile, operation, undefined, fields, events);
  }

  /** The outcome when the entry was removed from the hub. */
  private onMissing(reconcile: IntegrationReconcile, entryId: string): Outcome {
    const { cached, hashes, key, resource, spec, status } = reconcile;
    const what = `The ${spec.domain} entry “${status.title ?? entryId}” was removed from the hub`;
    const difference = { change: `${what}.`, drifted: true, left: 'it stays so' };
    const left = this.drift.leave(resource, cached, difference);
    if (left) return left;
    const events = [this.drift.reportCorrected(`${what}: it is created again.`)];
    // Failures concern only the removed entry, except rejected credentials.
    const rejected = rejectionHash('rejected', hashes, { spec: [], version: '', existing: [] }, key);
    const isRejected = status.rejectedHash === rejected;
    if (!isRejected) cached.failures.clear();
    const fields = { ...NO_ENTRY, ...(isRejected && { rejectedHash: rejected }) };
    return inProgress(reconcile, undefined, 0, fields, events);
  }

  /**
   * Corrects title and `disabled_by`, which need no flow. It counts as drift if status recorded another value
   * for this generation.
   *
   * @returns undefined when both match the spec
   */
  private async correctEntry(
    reconcile: IntegrationReconcile,
    entry: ConfigEntry,
  ): Promise<{ readonly outcome: Outcome } | { readonly drift: Outcome } | undefined> {
    const { cached, client, context, resource, spec, status } = reconcile;
    const { entry_id: entryId, title, domain } = entry;
    const isEnabled = entry.disabled_by === null;
    const isTitleWrong = spec.title !== undefined && title !== spec.title;
    const isSwitched = spec.enabled !== isEnabled;
    if (!isTitleWrong && !isSwitched) {
      this.drift.clear(cached);
      return undefined;
    }
    const isSettled = status.observedGeneration === resource.metadata.generation;
    const wasEnabled = status.entryState !== undefined && status.entryState !== DISABLED;
    const isDrift =
      isSettled &&
      ((isTitleWrong && status.title === spec.title) || (isSwitched && wasEnabled === spec.enabled));
    const differences = [
      ...(isTitleWrong ? [`its title is “${title}”`] : []),
      ...(isSwitched ? [isEnabled ? 'it is enabled' : 'it is disabled'] : []),
    ].join(', ');
    const what = `The ${domain} entry was changed in the hub: ${differences}.`;
    const key = JSON.stringify([spec.title, spec.enabled, title, isEnabled]);
    const correction = { key, text: differences };
    const difference = { change: what, drifted: isDrift, left: 'it stays so', correction };
    const left = this.drift.leave(resource, cached, difference);
    if (left) return { drift: left };
    context.signal.throwIfAborted();
    this.drift.count(cached, key);
    if (isTitleWrong) await client.configEntries.setTitle(entryId, spec.title);
    if (isSwitched) await client.configEntries.setEnabled(entryId, spec.enabled);
    const events = isDrift ? [this.drift.reportCorrected(`${what} It is changed back.`)] : [];
    return { outcome: inProgress(reconcile, undefined, MOMENT, {}, events) };
  }
}

/**
 * The answers that the entry has. Moved answers have their present ids, and ineffective changes count as
 * applied.
 */
export function appliedAnswers({ answers, hashes, key, status }: IntegrationReconcile): AnswerHashes {
  const { answerHashes = {}, configHash, unshownSteps } = status;
  const known = isComparable(configHash, key)
    ? withMoves(answerHashes, hashes)
    : withNewKey(answerHashes, hashes);
  const options = answers.options?.map(({ field }) => field);
  return withIneffective(known, hashes, unshownSteps, options);
}

/** Ids of the subentries that were applied, are still in the spec, and were removed in the hub. */
async function lostSubentries(
  { answers, client }: IntegrationReconcile,
  entry: ConfigEntry,
  applied: AnswerHashes,
): Promise<readonly string[]> {
  if (!answers.subentries?.length) return [];
  const present = await client.configEntries.subentries(entry.entry_id);
  const ids = new Set(present.map(({ subentry_type: type, title }) => subentryId({ type, title })));
  return answers.subentries.map(subentryId).filter((id) => applied[id] !== undefined && !ids.has(id));
}

const removedSubentries = ({ domain, title }: ConfigEntry, ids: readonly string[]): string =>
  `Subentries of the ${domain} entry “${title}” were removed in the hub: ${ids.join(', ')}.`;

const without = (hashes: AnswerHashes, ids: readonly string[]): AnswerHashes =>
  Object.fromEntries(Object.entries(hashes).filter(([id]) => !ids.includes(id)));

import { isDeepStrictEqual } from 'node:util';
import type { ConfigEntry } from '../../../client/flow-step';
import { integration as definition } from '../../../kinds';
import { DEPENDENCY_REQUEUE } from '../../../limits';
import { type Outcome, ready, stalled, waiting } from '../../../runtime/outcome';
import { correctionsOf, countCorrection, MAX_EQUAL_CORRECTIONS } from '../../corrections';
import { DriftReports } from '../../drift-reports';
import type { Services } from '../../services';
import {
  type AnswerHashes,
  changedAnswers,
  isComparable,
  recorded,
  subentryId,
  withMoves,
  withNewKey,
} from '../answer-hashes';
import { reauthenticate } from './entry-flows';
import { updateEntry } from './update';
import { entryOutcome } from './state';
import { endInterrupted } from './interrupted';
import { flowContext, inProgress, startOperation, stillFailed, withStatus } from '../progress';
import { appliedHash, DISABLED, NO_ENTRY, seenStatus } from './status-fields';
import type { IntegrationReconcile } from '../integration-reconcile';

/** Milliseconds until a corrected entry is checked again; the hub's event comes sooner. */
const CORRECTION_PAUSE = 2_000;

/** Keeps an entry as its resource asks: what differs is applied, drift is corrected or reported, its state decides. */
export class EntryMaintenance {
  private readonly drift: DriftReports;

  constructor(private readonly services: Pick<Services, 'clock' | 'metrics'>) {
    this.drift = new DriftReports(services, definition);
  }

  /** The entry exists: what differs is applied, then its state decides. */
  async maintain(reconcile: IntegrationReconcile, entry: ConfigEntry): Promise<Outcome> {
    const { cached, hashes, hub, key, previous, resource, spec, status } = reconcile;
    const { clock } = this.services;
    hub.recordOwner(resource, entry.entry_id);
    if (status.pendingFlow)
      return inProgress(reconcile, undefined, 0, await endInterrupted(reconcile, entry, status.pendingFlow));
    const seen = seenStatus(reconcile, entry);
    const applied = status.answerHashes ?? {};
    // The key was lost: nothing can be compared, so nothing is done. What was not applied before is still to be applied.
    if (!isComparable(status.configHash, key))
      return inProgress(reconcile, undefined, 0, { ...seen, ...recorded(withNewKey(applied, hashes), key) });
    const difference = await this.correctEntry(reconcile, entry);
    if (difference && 'outcome' in difference) return difference.outcome;
    const drift = difference?.drift;
    if (entry.disabled_by !== null) return drift ?? withStatus(disabledOutcome(entry), seen);
    const known = withMoves(applied, hashes);
    const lost = await lostSubentries(reconcile, entry, known);
    const isLeft = spec.driftPolicy === 'Warn';
    // One that is created again counts as not applied.
    const before = isLeft ? known : without(known, lost);
    const changed = changedAnswers(before, hashes);
    const failed = stillFailed(reconcile, clock);
    const reauth = reconcile.draining ? undefined : await this.reauthenticate(reconcile, entry);
    // Other answers may be what it takes, such as another host.
    if (reauth && (reauth.type !== 'Stalled' || changed.length === 0 || failed))
      return withStatus(reauth, seen);
    if (changed.length > 0) {
      if (reconcile.draining) return inProgress(reconcile, undefined);
      if (failed) return withStatus(failed, seen);
      const operation = startOperation(reconcile, clock, 'update', (running) =>
        updateEntry(flowContext(reconcile, clock), entry, before, status.adopted === true, running),
      );
      const events =
        isLeft || lost.length === 0
          ? []
          : [this.drift.corrected(`${removedSubentries(entry, lost)} They are created again.`)];
      return inProgress(reconcile, operation, undefined, drift ? {} : seen, events);
    }
    cached.failure = undefined;
    // Answers that only moved in the spec have other ids.
    const moved = { ...recorded(before, key), ...appliedHash(before) };
    const fields = isDeepStrictEqual(before, applied) ? seen : { ...seen, ...moved };
    if (drift) return drift;
    if (lost.length > 0) {
      const what = `${removedSubentries(entry, lost)} driftPolicy is Warn: it stays so.`;
      return withStatus(this.drift.left(previous, what), fields);
    }
    return withStatus(entryOutcome(entry, previous), fields);
  }

  /** The entry was removed from the hub. */
  async onMissing(reconcile: IntegrationReconcile, entryId: string): Promise<Outcome> {
    const { client, spec, status } = reconcile;
    const entries = await client.configEntries.refreshed();
    const present = entries.get(entryId);
    if (present) return this.maintain(reconcile, present);
    const what = `The ${spec.domain} entry “${status.title ?? entryId}” was removed from the hub`;
    if (spec.driftPolicy === 'Warn')
      return this.drift.left(reconcile.previous, `${what}. driftPolicy is Warn: it stays so.`);
    const events = [this.drift.corrected(`${what}: it is created again.`)];
    return inProgress(reconcile, undefined, 0, NO_ENTRY, events);
  }

  /**
   * Title and `disabled_by`, which need no flow. Drift is a value that status has recorded otherwise for this generation.
   * Undefined: they are as the spec asks.
   */
  private async correctEntry(
    reconcile: IntegrationReconcile,
    entry: ConfigEntry,
  ): Promise<{ readonly outcome: Outcome } | { readonly drift: Outcome } | undefined> {
    const { cached, client, resource, spec, status } = reconcile;
    const { entry_id: entryId, title, domain } = entry;
    const isEnabled = entry.disabled_by === null;
    const isTitleWrong = spec.title !== undefined && title !== spec.title;
    const isSwitched = spec.enabled !== isEnabled;
    if (!isTitleWrong && !isSwitched) return undefined;
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
    if (isDrift && spec.driftPolicy === 'Warn')
      return { drift: this.drift.left(reconcile.previous, `${what} driftPolicy is Warn: it stays so.`) };
    const now = this.services.clock.monotonic();
    if (correctionsOf(cached, differences, now) >= MAX_EQUAL_CORRECTIONS) {
      const advice = 'Each correction is reverted in the hub: it is not corrected again for an hour.';
      return { drift: this.drift.left(reconcile.previous, `${what} ${advice}`) };
    }
    countCorrection(cached, differences, now);
    if (isTitleWrong) await client.configEntries.setTitle(entryId, spec.title);
    if (isSwitched) await client.configEntries.setEnabled(entryId, spec.enabled);
    const events = isDrift ? [this.drift.corrected(`${what} It is changed back.`)] : [];
    return { outcome: inProgress(reconcile, undefined, CORRECTION_PAUSE, {}, events) };
  }

  /** The hub asks for other credentials: the present answers are sent once. */
  private async reauthenticate(
    reconcile: IntegrationReconcile,
    entry: ConfigEntry,
  ): Promise<Outcome | undefined> {
    const { cached, client, configHash } = reconcile;
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
    const operation = startOperation(reconcile, this.services.clock, 'reauth', (running) =>
      reauthenticate(flowContext(reconcile, this.services.clock), flowId, running),
    );
    return inProgress(reconcile, operation);
  }
}

/** Ids of the subentries that were applied, are still in the spec and were removed in the hub. */
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

/** It is unloaded, unless the integration cannot be: then it is disabled after a restart. */
function disabledOutcome({ domain, title, state }: ConfigEntry): Outcome {
  const name = `The ${domain} entry “${title}”`;
  if (state === 'not_loaded') return ready('EntryDisabled', `${name} is disabled in the hub.`);
  if (state === 'unload_in_progress')
    return waiting('EntryNotLoaded', `${name} is being unloaded.`, DEPENDENCY_REQUEUE);
  return stalled(
    'EntryNotLoaded',
    `${name} could not be unloaded: it is disabled after the next restart of the hub.`,
  );
}

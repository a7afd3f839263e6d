import type { ConfigEntry } from '../../client/flow-step';
import { integration as definition } from '../../kinds';
import type { EventSpec } from '../../runtime/event-spec';
import { type Outcome, ready, stalled } from '../../runtime/outcome';
import type { Services } from '../services';
import { changedAnswers, isComparable, recorded } from './answer-hashes';
import { reauthenticate, updateEntry } from './entry-flows';
import { entryOutcome } from './entry-state';
import { flowWork, inProgress, startOperation, stillFailed, withStatus } from './progress';
import { NO_ENTRY, seenStatus } from './status-fields';
import type { IntegrationWork } from './work';

/** Keeps an entry as its resource asks: what differs is applied, drift is corrected or reported, its state decides. */
export class EntryMaintenance {
  constructor(private readonly services: Pick<Services, 'clock' | 'metrics'>) {}

  /** The entry exists: what differs is applied, then its state decides. */
  async maintain(work: IntegrationWork, entry: ConfigEntry): Promise<Outcome> {
    const { cached, hashes, hub, key, previous, resource, status } = work;
    hub.claim(resource, entry.entry_id);
    const seen = seenStatus(work, entry);
    // The key was lost: nothing can be compared, so nothing is done.
    if (!isComparable(status.configHash, key))
      return inProgress(work, undefined, 0, { ...seen, ...recorded(hashes, key) });
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
      const failed = stillFailed(work, this.services.clock);
      if (failed) return withStatus(failed, seen);
      const before = status.answerHashes ?? {};
      const operation = startOperation(work, this.services.clock, 'update', (running) =>
        updateEntry(flowWork(work, this.services.clock), entry, before, status.adopted === true, running),
      );
      return inProgress(work, operation, undefined, seen);
    }
    cached.failure = undefined;
    return withStatus(entryOutcome(entry, previous), seen);
  }

  /** The entry was removed from the hub. */
  async onMissing(work: IntegrationWork, entryId: string): Promise<Outcome> {
    const { client, spec, status } = work;
    const entries = await client.configEntries.refreshed();
    const present = entries.get(entryId);
    if (present) return this.maintain(work, present);
    const what = `The ${spec.domain} entry “${status.title ?? entryId}” was removed from the hub`;
    if (spec.driftPolicy === 'Warn') return this.report(work, `${what}. driftPolicy is Warn: it stays so.`);
    const events = [this.corrected(`${what}: it is created again.`)];
    return inProgress(work, undefined, 0, NO_ENTRY, events);
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
        seenStatus(work, entry),
      );
    if (spec.title !== undefined && title !== spec.title)
      await client.configEntries.setTitle(entryId, spec.title);
    if (spec.enabled !== (entry.disabled_by === null))
      await client.configEntries.setEnabled(entryId, spec.enabled);
    const events = isDrift ? [this.corrected(`${what}. It is changed back.`)] : [];
    return inProgress(work, undefined, 0, seenStatus(work, entry), events);
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
    const operation = startOperation(work, this.services.clock, 'reauth', (running) =>
      reauthenticate(flowWork(work, this.services.clock), flowId, running),
    );
    return inProgress(work, operation);
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

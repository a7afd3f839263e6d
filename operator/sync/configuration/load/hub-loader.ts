import { timestamp } from '../../../base/clock';
import { HubUnreachable } from '../../../client/connection/errors';
import { hubStartId } from '../../../client/setup/hub-start-id';
import type { Redact } from '../../../client/connection/redact';
import type { Services } from '../../services';
import { filesOfNextPod } from '../generate/generate';
import { formerMarker } from '../generate/content-marker';
import { isInSeveralObjects, isPartFile } from '../generate/parts';
import type { Sections } from '../generate/sections';
import { publishConfiguration, publishWithoutRestart } from '../record/publish';
import type { ConfigurationRecord, ConfigurationRecords, LastLoad, LoadMethod } from '../record/record';
import { checkInHub, leftOutSince, newLines, type Problem, withLeftOut } from './check';
import { readCapabilities } from './components';
import { decideReload, type SectionReload } from './reload-decision';
import { textsOfHub } from '../generate/texts';
import { unknownFolders } from '../record/folders';
import { reloadSections } from './reload-sections';
import { RunningContents, type RunningHub } from './running-content';
import { REFRESH_DURATION, verifyContent } from './verify-content';

/**
 * - `adopt`: the hub has begun with the content, and this start is not in the record.
 * - `check`: the hub has the content; it is to be checked again.
 * - `load`: the hub is to get the content.
 */
export type LoadTask = 'adopt' | 'check' | 'load';

export type LoadResult =
  /** The hub has loaded the content, but for what `pending` names. */
  | { readonly type: 'loaded'; readonly pending: readonly string[] }
  /** Nothing was loaded: these files are linked when the pod starts. */
  | { readonly type: 'new-files'; readonly names: readonly string[] }
  /** The named sections need a restart, which is published unless the Hub cannot begin with one. */
  | { readonly type: 'restart'; readonly because: readonly string[] }
  /** The hub rejected the content; the one before is back. */
  | { readonly type: 'rejected'; readonly problem: string }
  /** A service failed and only a restart is left, which the strategy does not allow. */
  | { readonly type: 'failed'; readonly sections: readonly string[]; readonly message: string }
  /** In this start, the hub does not read the files that its pod mounts. */
  | { readonly type: 'unseen' };

/** A load that is to be made. */
export interface LoadOrder extends RunningHub {
  readonly task: LoadTask;
}

interface LoadJob extends LoadOrder {
  readonly redact: Redact;
  /** Whether the resource or the secrets have changed since. */
  readonly hasChanged: () => Promise<boolean>;
  /** Throws when the resource was deleted or suspended meanwhile. */
  readonly assertStillDesired: () => void;
}

/**
 * One load of a content into a hub that runs (rules.md, "Reload or restart"): write, have it checked, have it read, reload
 * what changed, and observe the result. Each step may be the last one of this process: repeated from the beginning it
 * leads to the same end.
 */
export class HubLoader {
  constructor(
    private readonly services: Pick<Services, 'applier' | 'cache' | 'cluster' | 'clock' | 'log' | 'texts'>,
    private readonly records: ConfigurationRecords,
    private readonly job: LoadJob,
    private readonly signal: AbortSignal,
  ) {}

  async load(): Promise<LoadResult> {
    const { services, records, job } = this;
    if (job.task !== 'load') return this.adopt();
    const running = await new RunningContents(services, records).find(job);
    if (running) return this.exchange(running);
    // The loaded configuration is unknown, so nothing can be compared: a start of the pod checks and loads all of it.
    if (job.policy.strategy !== 'hot-reload') return this.restart([]);
    await publishConfiguration(services, job.resource, job.content);
    return { type: 'unseen' };
  }

  /** The hub has started with the content: all of it is loaded, but the items that the hub says to have left out. */
  private async adopt(): Promise<LoadResult> {
    const { hub, resource, content, record, observed, task } = this.job;
    const { files, folders, definitions, marker, sections: loaded } = content;
    const subject = { ...this.job, files };
    const { problem, warnings } = await checkInHub(subject, '');
    if (problem && !problem.isWarning) return { type: 'rejected', problem: problem.problem };
    const isLoadedBefore =
      record?.marker.configuration === marker.configuration && record.pending.length === 0;
    const atStart = task === 'adopt' ? await leftOutSince([], subject) : '';
    await this.records.set(hub, {
      files,
      folders,
      definitions,
      marker,
      loaded,
      pending: [],
      start: observed.start,
      warnings: [warnings, newLines(atStart, warnings)].filter(Boolean).join('\n'),
      sentSettings: record?.sentSettings,
      lastLoad: isLoadedBefore && record.lastLoad ? record.lastLoad : this.loadedNow('restart'),
    });
    await publishConfiguration(this.services, resource, content);
    return { type: 'loaded', pending: [] };
  }

  /** A restart that the Hub cannot begin with would leave files to a hub that restarts by itself. */
  private async restart(because: readonly string[]): Promise<LoadResult> {
    const { resource, content, observed } = this.job;
    if (observed.heldBy === undefined)
      await publishConfiguration(this.services, resource, content, content.restart);
    return { type: 'restart', because };
  }

  private async exchange(base: ConfigurationRecord): Promise<LoadResult> {
    const { job } = this;
    const { client, content, resource, observed } = job;
    // Files are linked into the hub's directory when the pod starts, and not before.
    const added = filesOfNextPod(base.files, content.files);
    if (added.length > 0) {
      if (job.policy.strategy !== 'hot-reload')
        return this.restart(added.filter((name) => !isPartFile(name)));
      // The content may have been written while the hub did not answer. A hub that restarts by itself could not read
      // it.
      await publishConfiguration(this.services, resource, base);
      return { type: 'new-files', names: added };
    }
    // Whether the volume has such a folder is seen when the pod starts, and not before.
    const unknown = unknownFolders(content.folders, observed.pod?.folders);
    if (unknown.length > 0 && job.policy.strategy !== 'hot-reload') return this.restart(unknown);
    job.assertStillDesired();
    await publishConfiguration(this.services, resource, content);
    const { files, marker } = content;
    // Warnings of the former files are known, but a changed secret may be the cause of one, or one half of the change.
    const isOne = marker.secrets === base.marker.secrets && !isInSeveralObjects(base.files, files);
    const rejectAfter = isOne ? 0 : REFRESH_DURATION;
    const options = { ...job, files, marker, knownWarnings: base.warnings, rejectAfter };
    const shown = await verifyContent(this.services, options, this.signal);
    if (shown.type === 'rejected') return this.reject(base, shown, []);
    if (shown.type === 'unseen') return shown;
    if ((await hubStartId(client.connection)) !== observed.start.id)
      throw new HubUnreachable('the hub was restarted while it loaded the configuration');
    return this.reload(base, shown.warnings);
  }

  private async reload(base: ConfigurationRecord, warnings: string): Promise<LoadResult> {
    const { client, content, hub, resource, policy, observed } = this.job;
    const { files, folders, definitions, marker, sections: after } = content;
    this.job.assertStillDesired();
    const capabilities = await readCapabilities(this.job, base.loaded);
    const decision = decideReload(policy, base.loaded, after, capabilities);
    const accept = (pending: readonly string[], method: LoadMethod) =>
      this.records.set(hub, {
        ...base,
        files,
        folders,
        definitions,
        marker,
        loaded: withFormer(after, base.loaded, pending),
        pending: [...pending].sort(),
        start: observed.start,
        warnings,
        rejected: undefined,
        replacedPod: undefined,
        lastLoad: method === 'hot-reload' || pending.length === 0 ? this.loadedNow(method) : base.lastLoad,
      });
    if (decision.type === 'restart') return this.restart(decision.because);
    // Before the end of the load, which holds a rollout back.
    await publishWithoutRestart(this.services, resource, content);
    if (decision.type === 'nothing') {
      await accept([], 'none');
      return { type: 'loaded', pending: [] };
    }
    const change = { before: base.files, after: files };
    const texts = textsOfHub(this.services, hub.metadata.namespace, hub.metadata.name);
    const [failure, leftOut] = await withLeftOut({ ...this.job, files }, () =>
      reloadSections({ ...this.services, texts }, client, decision.reloads, change, this.signal),
    );
    const problem = newLines(leftOut, warnings);
    if (problem) return this.reject(base, { problem, isWarning: true }, decision.reloads);
    if (failure && policy.strategy === 'auto') return this.restart(failure.sections);
    const pending = [...decision.pending, ...(failure?.sections ?? [])];
    await accept(pending, decision.reloads.length > 0 ? 'hot-reload' : 'none');
    return failure ? { type: 'failed', ...failure } : { type: 'loaded', pending: [...pending].sort() };
  }

  /**
   * Puts the former content back, and reloads the sections that were loaded of the other one, so that the hub runs the
   * former ones.
   */
  private async reject(
    base: ConfigurationRecord,
    { problem, isWarning }: Problem,
    reloads: readonly SectionReload[],
  ): Promise<LoadResult> {
    const { hub, client, content, resource, observed } = this.job;
    await publishConfiguration(this.services, resource, base);
    // The way back also ends while the operator stops.
    const unaborted = new AbortController().signal;
    const former = { files: base.files, marker: formerMarker(base, content.marker) };
    const options = { ...this.job, ...former, knownWarnings: undefined, rejectAfter: REFRESH_DURATION };
    const shown = await verifyContent(this.services, options, unaborted);
    if (shown.type !== 'seen')
      this.services.log.warn(
        { hub: `${hub.metadata.namespace}/${hub.metadata.name}`, shown: shown.type },
        'the hub does not read its former files',
      );
    const change = { before: content.files, after: base.files };
    const texts = textsOfHub(this.services, hub.metadata.namespace, hub.metadata.name);
    await reloadSections({ ...this.services, texts }, client, reloads, change, unaborted);
    for (const kind of ['automation', 'scene'] as const) {
      const isReloaded = reloads.some(({ sections }) => sections.includes(kind));
      // A write of the operator or a person may have loaded it from the rejected files meanwhile.
      if (!isReloaded && content.sections.get(kind)?.digest !== base.loaded.get(kind)?.digest)
        await client.entities.reload(kind);
    }
    // The former content has got this problem too, by a change of something else: it is none of this content.
    if (isWarning && shown.type === 'seen' && newLines(problem, shown.warnings) === '')
      return this.exchange({ ...base, warnings: shown.warnings });
    const rejected = { marker: content.marker, problem };
    await this.records.set(hub, { ...base, start: observed.start, rejected });
    return { type: 'rejected', problem };
  }

  private loadedNow(method: LoadMethod): LastLoad {
    return { method, time: timestamp(this.services.clock.now()) };
  }
}

/** `after`, with these sections as they were. */
function withFormer(after: Sections, before: Sections, parts: readonly string[]): Sections {
  const mixed = new Map(after);
  for (const part of parts) {
    const former = before.get(part);
    if (former) mixed.set(part, former);
    else mixed.delete(part);
  }
  return mixed;
}

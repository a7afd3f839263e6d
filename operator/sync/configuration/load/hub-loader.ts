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
 * The task of a load:
 *
 * - `adopt`: the hub has started with the content, and this start is not in the record.
 * - `check`: the hub has the content, which has to be checked again.
 * - `load`: the hub has to get the content.
 */
export type LoadTask = 'adopt' | 'check' | 'load';

export type LoadResult =
  /** The hub has loaded the content, except the sections in `pending`. */
  | { readonly type: 'loaded'; readonly pending: readonly string[] }
  /** Nothing was loaded, since these files are linked only when the pod starts. */
  | { readonly type: 'new-files'; readonly names: readonly string[] }
  /** The sections in `because` need a restart. It is published unless the Hub cannot begin it. */
  | { readonly type: 'restart'; readonly because: readonly string[] }
  /** The hub rejected the content, and the former content is back. */
  | { readonly type: 'rejected'; readonly problem: string }
  /** A service failed, and only a restart could load the sections, which the strategy does not allow. */
  | { readonly type: 'failed'; readonly sections: readonly string[]; readonly message: string }
  /** In this start, the hub does not read the files that its pod mounts. */
  | { readonly type: 'unseen' };

/** A load that has been decided on. */
export interface LoadOrder extends RunningHub {
  readonly task: LoadTask;
}

interface LoadJob extends LoadOrder {
  readonly redact: Redact;
  /** Reports whether the resource or the secrets have changed since the load began. */
  readonly hasChanged: () => Promise<boolean>;
  /** @throws when the resource was deleted or suspended since the load began */
  readonly assertStillDesired: () => void;
}

/**
 * One load of content into a running hub (rules.md, "Reload or restart"): write the files, let the hub check
 * and read them, reload the changed sections, and observe the result. If the process ends after any step, the
 * next process repeats the load from the beginning with the same result.
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
    // Without the loaded configuration nothing can be compared. A start of the pod checks and loads all of
    // the content.
    if (job.policy.strategy !== 'hot-reload') return this.restart([]);
    await publishConfiguration(services, job.resource, job.content);
    return { type: 'unseen' };
  }

  /**
   * Records content that the hub has started with. All of it is loaded, except items that the hub reports to
   * have left out.
   */
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

  /**
   * Publishes the content with a restart. If the Hub cannot begin it, the content is not published: the hub
   * might restart for another reason and read it unchecked.
   */
  private async restart(because: readonly string[]): Promise<LoadResult> {
    const { resource, content, observed } = this.job;
    if (observed.heldBy === undefined)
      await publishConfiguration(this.services, resource, content, content.restart);
    return { type: 'restart', because };
  }

  private async exchange(base: ConfigurationRecord): Promise<LoadResult> {
    const { job } = this;
    const { client, content, resource, observed } = job;
    // Files are linked into the hub's directory only when the pod starts.
    const added = filesOfNextPod(base.files, content.files);
    if (added.length > 0) {
      if (job.policy.strategy !== 'hot-reload')
        return this.restart(added.filter((name) => !isPartFile(name)));
      // The content may have been published while the hub did not respond. A hub that restarts in its pod
      // could not read it, so the former content is published again.
      await publishConfiguration(this.services, resource, base);
      return { type: 'new-files', names: added };
    }
    // Whether the volume has such a folder is only known after a start of the pod.
    const unknown = unknownFolders(content.folders, observed.pod?.folders);
    if (unknown.length > 0 && job.policy.strategy !== 'hot-reload') return this.restart(unknown);
    job.assertStillDesired();
    await publishConfiguration(this.services, resource, content);
    const { files, marker } = content;
    // A problem is final at once if the change is in a single object, since warnings about the former files
    // are known. With changed secrets or several objects, the hub may have read only half of the change.
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
    // The content is published before the load ends, since a rollout waits for that end.
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
   * Publishes the former content again, and reloads the sections that were already loaded from the rejected
   * one.
   */
  private async reject(
    base: ConfigurationRecord,
    { problem, isWarning }: Problem,
    reloads: readonly SectionReload[],
  ): Promise<LoadResult> {
    const { hub, client, content, resource, observed } = this.job;
    await publishConfiguration(this.services, resource, base);
    // This reload is completed even while the operator stops.
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
      // Another client, or the operator itself, may have reloaded them from the rejected files.
      if (!isReloaded && content.sections.get(kind)?.digest !== base.loaded.get(kind)?.digest)
        await client.entities.reload(kind);
    }
    // The former content has the same problem now, caused by something else, so this content is not rejected
    // for it.
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

/** The sections of `after`, except that the given parts come from `before`. */
function withFormer(after: Sections, before: Sections, parts: readonly string[]): Sections {
  const mixed = new Map(after);
  for (const part of parts) {
    const former = before.get(part);
    if (former) mixed.set(part, former);
    else mixed.delete(part);
  }
  return mixed;
}

import { timestamp } from '../../clock';
import { HTTP_BY_API, isLower } from '../../hub-version';
import type { HubClient } from '../../client/hub-client';
import { HubUnreachable } from '../../client/errors';
import { hubStartId } from '../../client/hub-start-id';
import type { Redact } from '../../client/redact';
import { listServices } from '../../client/services';
import type { Hub, HubConfiguration } from '../../kinds';
import type { Services } from '../services';
import type { Accepted, AcceptedConfigurations, LastLoad, LoadMethod } from './accepted-configuration';
import { checkInHub, problemOf } from './check';
import { addedFiles, type Content } from './configuration-content';
import type { MarkerVariables } from './content-marker';
import {
  isRestartPublished,
  publishConfiguration,
  publishWithoutRestart,
  type RestartHashes,
} from './publish';
import { decideReload, type HubCapabilities, type ReloadPolicy } from './reload-decision';
import { reloadSections } from './reload-sections';
import type { Sections } from './sections';
import { RunningContents } from './running-content';
import { readMarker, REFRESH_DURATION, verifyContent } from './verify-content';

export interface LoadJob {
  readonly resource: HubConfiguration;
  readonly hub: Hub;
  readonly client: HubClient;
  readonly content: Content;
  readonly accepted: Accepted | undefined;
  readonly policy: ReloadPolicy;
  readonly redact: Redact;
  /** The pod started with the last good copy on its volume, and does not read the mounted files. */
  readonly fellBack: boolean;
  /** Whether the present pod was started for this decision. */
  readonly isPodOf: (restart: RestartHashes) => boolean;
  /** Whether the resource or the secrets have changed since. */
  readonly hasChanged: () => Promise<boolean>;
  /** Whether a restart is left to the next load, since the content has changed. */
  readonly shouldDelayRestart: () => Promise<boolean>;
  /** Throws when the resource was deleted or suspended meanwhile. */
  readonly assertStillDesired: () => void;
}

export type LoadResult =
  /** The hub has loaded the content, but for what `pending` names. */
  | {
      readonly type: 'loaded';
      readonly pending: readonly string[];
      /** Nothing was loaded: these are linked when the pod starts. */
      readonly newFiles?: readonly string[];
    }
  /** The check accepted the content, and these sections need a restart. */
  | {
      readonly type: 'restart';
      readonly because: readonly string[];
      /** The start of the hub that is to end. */
      readonly startId: string;
    }
  /** The check rejected the content; the one before is back. */
  | { readonly type: 'rejected'; readonly problem: string }
  /** A service failed and only a restart is left, which the strategy does not allow. */
  | { readonly type: 'failed'; readonly sections: readonly string[]; readonly message: string }
  /** In this start, the hub does not read the files that its pod mounts. */
  | { readonly type: 'unseen'; readonly startId: string };

type LoadServices = Pick<Services, 'applier' | 'cache' | 'cluster' | 'clock' | 'log'>;

/**
 * Loads a content into a hub that runs (rules.md, "Reload or restart"): write, have it checked, have it read, reload what
 * changed. Each step may be the last one of this process: repeated from the beginning it leads to the same end.
 */
export class HubLoader {
  private readonly running: RunningContents;

  constructor(
    private readonly services: LoadServices,
    private readonly accepted: AcceptedConfigurations,
  ) {
    this.running = new RunningContents(services, accepted);
  }

  async load(job: LoadJob, signal: AbortSignal): Promise<LoadResult> {
    const startId = await hubStartId(job.client.connection);
    const start = { ...job, startId, marker: await readMarker(job.client) };
    if (this.running.hasLoaded(start)) return this.adopt(job, startId);
    const running = job.fellBack ? undefined : await this.running.find(start);
    if (!running) return this.loadByRestart(job, startId);
    return this.exchange(job, running, startId, signal);
  }

  /** The hub has started with the content: all of it is loaded, unless the check finds fault with it. */
  private async adopt(job: LoadJob, startId: string): Promise<LoadResult> {
    const { hub, client, content, accepted, redact } = job;
    const result = await checkInHub(client, redact, accepted?.warnings ?? '');
    const problem = problemOf(result);
    if (result.errors) return { type: 'rejected', problem: problem! };
    // It runs, without the sections that the check warns of: nothing is gained by going back.
    const { files, marker, sections: loaded } = content;
    await this.accepted.set(hub, {
      files,
      marker,
      loaded,
      pending: [],
      mustRestart: false,
      startId,
      warnings: result.warnings,
      sentSettings: accepted?.sentSettings,
      lastLoad: this.loadedNow('restart'),
    });
    await this.publish(job.resource, content);
    return problem ? { type: 'rejected', problem } : { type: 'loaded', pending: [] };
  }

  /** The loaded configuration is unknown, so nothing can be compared: a start of the pod checks and loads all of it. */
  private async loadByRestart(
    { resource, content, accepted, policy, isPodOf }: LoadJob,
    startId: string,
  ): Promise<LoadResult> {
    const isKnown = accepted !== undefined || isPodOf(content.restart);
    if (isKnown && isRestartPublished(this.services, resource, content.restart))
      // The Hub may not have copied the decision yet: another restart would follow.
      return isPodOf(content.restart)
        ? { type: 'unseen', startId }
        : { type: 'restart', because: [], startId };
    if (policy.strategy === 'hot-reload') {
      await this.publish(resource, content);
      return { type: 'unseen', startId };
    }
    await this.publish(resource, content, content.restart);
    return { type: 'restart', because: [], startId };
  }

  private async exchange(
    job: LoadJob,
    accepted: Accepted,
    startId: string,
    signal: AbortSignal,
  ): Promise<LoadResult> {
    const { hub, client, content, resource, redact } = job;
    // A new file is linked into the hub's directory when the pod starts, and not before.
    const added = addedFiles(accepted.files, content.files);
    if (added.length > 0) {
      if (job.policy.strategy === 'hot-reload') {
        // It may have been written while the hub did not answer. A hub that restarts by itself could not read it.
        await this.publish(resource, accepted);
        return { type: 'loaded', pending: [], newFiles: added };
      }
      await this.publish(resource, content, content.restart);
      return { type: 'restart', because: added, startId };
    }
    job.assertStillDesired();
    await this.accepted.recordLastGood(hub, accepted);
    await this.publish(resource, content);
    const shown = await verifyContent(
      this.services,
      {
        hub,
        client,
        marker: content.marker,
        knownWarnings: accepted.warnings,
        redact,
        hasChanged: job.hasChanged,
        // Those of the accepted files are good; secrets are no part of them.
        rejectAfter: content.marker.secrets === accepted.marker.secrets ? 0 : REFRESH_DURATION,
      },
      signal,
    );
    if (shown.type === 'rejected') return this.reject({ ...job, accepted }, shown.problem);
    if (shown.type === 'unseen') return { ...shown, startId };
    if ((await hubStartId(client.connection)) !== startId)
      throw new HubUnreachable('the hub was restarted while it loaded the configuration');
    return this.reload(job, { ...accepted, startId, warnings: shown.warnings, rejected: undefined }, signal);
  }

  private async reload(job: LoadJob, accepted: Accepted, signal: AbortSignal): Promise<LoadResult> {
    const { client, content, hub, policy } = job;
    const { files, marker, sections: after } = content;
    const before = accepted.loaded;
    job.assertStillDesired();
    const decision = decideReload(policy, before, after, await this.capabilities(job));
    const accept = (loaded: Sections, pending: readonly string[], fields: Partial<Accepted> = {}) =>
      this.accepted.set(hub, { ...accepted, files, marker, loaded, pending, mustRestart: false, ...fields });
    const restart = async (loaded: Sections, because: readonly string[]): Promise<LoadResult> => {
      // Accepted first: after a crash in between, the pending sections lead to the restart.
      await accept(loaded, because, { mustRestart: true });
      if (!(await job.shouldDelayRestart())) await this.publish(job.resource, content, content.restart);
      return { type: 'restart', because, startId: accepted.startId };
    };
    if (decision.type === 'restart') return restart(before, decision.because);
    // Before the end of the load, which holds a rollout back.
    await publishWithoutRestart(this.services, job.resource, { files, hash: marker.configuration });
    if (decision.type === 'nothing') {
      await accept(after, [], { lastLoad: this.loadedNow('none') });
      return { type: 'loaded', pending: [] };
    }
    const change = { before: accepted.files, after: files };
    const reloaded = decision.reloads.flatMap(({ sections }) => sections);
    // Before the first service: after a crash it is not known which of them the hub has loaded.
    if (reloaded.length > 0)
      await accept(
        withUnknown(withFormer(after, before, decision.pending), reloaded),
        [...reloaded, ...decision.pending].sort(),
      );
    const failure = await reloadSections(this.services, client, decision.reloads, change, signal);
    const loaded = withFormer(after, before, [...decision.pending, ...(failure?.sections ?? [])]);
    if (failure && policy.strategy === 'auto') return restart(loaded, failure.sections);
    const pending = [...decision.pending, ...(failure?.sections ?? [])].sort();
    await accept(loaded, pending, reloaded.length > 0 ? { lastLoad: this.loadedNow('hot-reload') } : {});
    return failure ? { type: 'failed', ...failure } : { type: 'loaded', pending };
  }

  /** Puts the accepted content back. The hub has loaded nothing of the other one but scripts, if anything. */
  private async reject(
    { resource, accepted, hub, client, redact, content, hasChanged }: LoadJob,
    problem: string,
  ): Promise<LoadResult> {
    if (accepted) {
      await this.accepted.set(hub, { ...accepted, rejected: content.marker });
      await this.publish(resource, accepted);
      const marker = withSecretsOf(accepted.marker, content.marker);
      const { warnings: knownWarnings } = accepted;
      const desired = {
        hub,
        client,
        marker,
        knownWarnings,
        redact,
        hasChanged,
        rejectAfter: REFRESH_DURATION,
      };
      const shown = await verifyContent(this.services, desired, new AbortController().signal);
      if (shown.type !== 'seen')
        this.services.log.warn(
          { hub: `${hub.metadata.namespace}/${hub.metadata.name}`, shown: shown.type },
          'the hub does not read its former files',
        );
      for (const kind of ['automation', 'scene'] as const)
        // A write of the operator or a person may have loaded it from the rejected files meanwhile.
        if (content.sections.get(kind)?.digest !== accepted.loaded.get(kind)?.digest)
          await client.entities.reload(kind);
    }
    return { type: 'rejected', problem };
  }

  private loadedNow(method: LoadMethod): LastLoad {
    return { method, time: timestamp(this.services.clock.now()) };
  }

  private publish(
    resource: HubConfiguration,
    { files, marker }: Pick<Content, 'files' | 'marker'>,
    restart?: RestartHashes,
  ): Promise<void> {
    return publishConfiguration(this.services, resource, { files, hash: marker.configuration }, restart);
  }

  private async capabilities({ client, hub }: LoadJob): Promise<HubCapabilities> {
    const domains = await listServices(client.connection);
    const services = [...domains].flatMap(([domain, names]) => [...names].map((name) => `${domain}.${name}`));
    const version = hub.status?.version;
    return {
      services: new Set(services),
      httpByApi: version === undefined || !isLower(version, HTTP_BY_API),
    };
  }
}

/** The marker of accepted files once the hub reads them again: with the present secrets. */
function withSecretsOf(accepted: MarkerVariables, { secrets }: MarkerVariables): MarkerVariables {
  return accepted.secrets === undefined || secrets === undefined ? accepted : { ...accepted, secrets };
}

/** `after`, with these parts as different from any content. */
function withUnknown(after: Sections, parts: readonly string[]): Sections {
  return new Map([...after, ...parts.map((part) => [part, { digest: '', secrets: {} }] as const)]);
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

import type { HubClient } from '../../client/hub-client';
import type { Hub, HubConfiguration } from '../../kinds';
import { userAnnotations } from '../../kinds/annotations';
import { objectNames } from '../../kinds/object-names';
import { DEPENDENCY_REQUEUE, HUB_START_LIMIT } from '../../limits';
import type { EventSpec } from '../../runtime/event-spec';
import type { Outcome } from '../../runtime/outcome';
import { builtin } from '../../runtime/types';
import type { Pod } from '../hub/pod';
import type { PodRestarts } from '../hub/workload/pod-restarts';
import type { HubClients } from '../hub-clients';
import { hubRedactor } from '../hub-secrets';
import { SECRETS_HASH_KEY } from '../secrets/secrets-yaml';
import type { Services } from '../services';
import { addedFiles, isSameMarker } from './generate/configuration-content';
import { notSetUp } from './load/components';
import type { LoadResult } from './load/load-result';
import type { LoadTask } from './load/hub-loader';
import { syncHttpSettings } from './load/http-settings';
import type { DesiredContent, LoadJobs } from './load/load-jobs';
import { changedParts, type ReloadPolicy } from './load/reload-decision';
import { Outcomes, withHttp } from './conditions';
import { decide, type Known, knownOf, type Situation, type Step } from './decide';
import { type Observed, observeUnusable, observeUsable } from './record/observe';
import { isSameRestart, publishConfiguration, publishWithoutRestart } from './record/publish';
import type { ConfigurationRecord, ConfigurationRecords, HubStart, SentSettings } from './record/record';

/** Interval of the check whether a hub has had its time to return, in milliseconds. */
const RETURN_POLL = 5_000;

/** A hub that can be used, or the reason why it cannot be, with its fields of status. */
export type HubAccess =
  | { readonly hub: Hub; readonly client: HubClient }
  | { readonly hub: Hub | undefined; readonly unusable: Outcome };

/** What a step works with. */
interface Work extends Situation, DesiredContent {
  readonly step: Step;
  readonly outcomes: Outcomes;
}

interface UsableWork extends Work {
  readonly hub: Hub;
  readonly client: HubClient;
  readonly observed: Observed & { readonly start: HubStart };
}

interface UnusableWork extends Work {
  readonly hub: Hub | undefined;
  readonly unusable: Outcome;
}

/**
 * Brings a configuration into its hub: reads the record, observes the hub, decides on one step and takes it (rules.md, "Reload or
 * restart"). Only steps write.
 */
export class ConfigurationReconciler {
  /** The resource that is reconciled when a client is connected again. */
  private readonly followed = new WeakMap<HubClient, string>();

  constructor(
    private readonly services: Pick<Services, 'cache' | 'applier' | 'secrets' | 'clock' | 'requeue'>,
    private readonly hubs: Pick<HubClients, 'contact'>,
    private readonly restarts: Pick<PodRestarts, 'restart'>,
    private readonly records: ConfigurationRecords,
    private readonly loads: LoadJobs,
  ) {}

  async sync(desired: DesiredContent, access: HubAccess, forced: boolean): Promise<Outcome> {
    if ('client' in access) return this.syncUsable(desired, access.hub, access.client, forced);
    const { hub, unusable } = access;
    const { resource, content } = desired;
    const record = hub && (await this.record(hub, forced));
    const observed = await observeUnusable(this.services, this.hubs, resource, hub);
    const situation = { ...desired, observed, record, forced };
    const outcomes = new Outcomes(resource, content, record);
    const status = { ...unusable.status, ...outcomes.generated };
    // The hub may not have answered when it was asked for its mode.
    const after = observed.mode === 'recovery' ? { after: DEPENDENCY_REQUEUE } : {};
    const step = decide(situation);
    return this.takeUnusable({
      ...situation,
      step,
      outcomes,
      hub,
      unusable: { ...unusable, ...after, status },
    });
  }

  /** Beside a configuration that cannot be generated: a trial of the settings has to be ended within minutes. */
  syncInvalid(
    resource: HubConfiguration,
    outcome: Outcome,
    policy: Pick<ReloadPolicy, 'strategy'>,
    { hub, client }: { readonly hub: Hub; readonly client: HubClient },
    forced: boolean,
  ): Promise<Outcome> {
    return this.syncHttp(resource, outcome, policy, hub, client, { forced, mayRestart: true });
  }

  /** @param forced without what was said of other contents, so that they are tried again */
  private async record(hub: Hub, forced: boolean): Promise<ConfigurationRecord | undefined> {
    const record = await this.records.get(hub);
    if (!record || !forced) return record;
    const { failed, rejected, replacedPod, sentSettings, ...rest } = record;
    if (!(failed ?? rejected ?? replacedPod ?? sentSettings)) return record;
    await this.records.set(hub, rest);
    return rest;
  }

  private async syncUsable(
    desired: DesiredContent,
    hub: Hub,
    client: HubClient,
    forced: boolean,
  ): Promise<Outcome> {
    const { resource, content } = desired;
    this.followReconnects(resource, client);
    const record = await this.record(hub, forced);
    const outcomes = new Outcomes(resource, content, record);
    if (this.loads.isLoading(hub)) return outcomes.loading();
    const observed = await observeUsable(this.services, resource, hub, client);
    const last = this.loads.result(desired, hub, observed.start);
    const situation = { ...desired, observed, record, last, forced };
    const step = decide(situation);
    const outcome = await this.takeUsable({ ...situation, step, outcomes, hub, client });
    // One restart at a time.
    const mayRestart = outcome.reason !== 'RestartPending' || outcome.type === 'Stalled';
    return this.syncHttp(resource, outcome, desired.policy, hub, client, { forced, mayRestart });
  }

  private async takeUsable(work: UsableWork): Promise<Outcome> {
    const { step, outcomes, record, observed, hub } = work;
    switch (step) {
      case 'ReportInUse':
        return this.reportInUse(work);
      case 'ReportRejected':
        return this.reportRejected(work);
      case 'ReportFailed':
        return this.reportFailed({ ...work, hub }, record?.marker.configuration);
      case 'ReportLoad':
        return this.reportLoad(work, work.last!);
      case 'AwaitRestart':
        return this.awaitRestart(work, hub, changedOf(work));
      default: {
        this.loads.start(work, hub, work.client, TASKS[knownOf(work)] ?? 'load', observed, record);
        return outcomes.loading();
      }
    }
  }

  /** Ready is proven by its effect: the integration of each section is set up. */
  private async reportInUse({
    resource,
    content,
    outcomes,
    hub,
    client,
    record,
    observed,
  }: UsableWork): Promise<Outcome> {
    const { files, marker, sections } = content;
    await publishWithoutRestart(this.services, resource, { files, hash: marker.configuration });
    if (record?.warnings) return outcomes.loaded();
    const texts = Object.values(files);
    const empty =
      observed.pod?.createdFiles.filter((name) => texts.some((text) => text.includes(name))) ?? [];
    if (empty.length > 0) return outcomes.includesNothing(empty);
    const missing = await notSetUp(client, sections, await hubRedactor(this.services, hub));
    return missing ? outcomes.notLoaded(missing.sections, missing.words) : outcomes.loaded();
  }

  private reportRejected({ content, observed, record, outcomes }: Work): Outcome {
    const byPod = observed.pod?.rejected;
    const isByPod = byPod !== undefined && isSameMarker(byPod.marker, content.marker);
    return outcomes.checkFailed(isByPod ? byPod.problem : (record?.rejected?.problem ?? ''));
  }

  private async reportFailed(work: Work & { readonly hub: Hub }, running?: string): Promise<Outcome> {
    const { resource, content, observed, record, hub } = work;
    const { failed } = record!;
    const words = observed.pod?.errorsBefore.join('\n');
    // The log of the failed start is beside that of the next one, and gone after it.
    const isNew = failed?.cause === undefined && words && observed.pod?.uid !== failed?.pod;
    const known = isNew ? { ...record!, failed: { ...failed!, cause: words } } : record!;
    if (isNew) await this.records.set(hub, known);
    return new Outcomes(resource, content, known).failedStart(running, observed.heldBy);
  }

  /** The outcome of a load that ended and need not be repeated. */
  private async reportLoad(work: UsableWork, result: LoadResult): Promise<Outcome> {
    const { resource, content, policy, outcomes, hub } = work;
    switch (result.type) {
      case 'rejected':
        return outcomes.checkFailed(result.problem);
      case 'restart':
        return this.awaitRestart(work, hub, result.because);
      case 'new-files':
        return outcomes.newFiles(result.names);
      case 'loaded':
        return outcomes.restartNeeded(result.pending, policy);
      case 'failed':
        return outcomes.reloadFailed(result.message, result.sections);
      case 'unseen': {
        if (policy.strategy === 'hot-reload') return outcomes.newPodNeeded();
        const { files, marker, restart } = content;
        await publishConfiguration(this.services, resource, { files, hash: marker.configuration }, restart);
        return this.awaitRestart(work, hub, []);
      }
    }
  }

  /** A pod that was started for this content before has the same template: nothing but its deletion restarts it. */
  private async awaitRestart(
    { resource, content, observed, record, outcomes }: Work,
    hub: Hub,
    sections: readonly string[],
  ): Promise<Outcome> {
    const { pod, template, published, heldBy } = observed;
    const isDecided = isSameRestart(published?.restart, content.restart);
    if (
      isDecided &&
      isSameRestart(template, content.restart) &&
      isSameRestart(pod?.restart, content.restart)
    ) {
      const hasBegun = isSameMarker(pod!.begunWith, content.marker) && pod!.uid !== record?.start.pod;
      if (hasBegun) {
        const { configuration } = objectNames(resource.spec.hubRef.name);
        const message = `The hub does not read the files of the ConfigMap ${configuration}, although its pod has started with them. Read the log of the pod.`;
        return outcomes.reloadFailed(message);
      }
      await this.replacePod(hub, 'it has to read its configuration');
    }
    return outcomes.restarting(
      sections,
      isDecided && isSameRestart(template, content.restart) ? undefined : heldBy,
    );
  }

  private async takeUnusable(work: UnusableWork): Promise<Outcome> {
    const { step, outcomes, record, observed, unusable, content, hub } = work;
    switch (step) {
      case 'ReportRejected':
        return this.reportRejected(work);
      case 'ReportFailed':
        return this.reportFailed({ ...work, hub: hub! });
      case 'ReportNewFiles':
        return outcomes.newFiles(addedFiles(record!.files, content.files));
      case 'ReportNoOther':
        return outcomes.failedOnlyStart(work.policy);
      case 'ReportHeld':
        return outcomes.restarting(changedOf(work), observed.heldBy);
      case 'Hold': {
        const isStarting = observed.mode === 'starting';
        return {
          ...unusable,
          message: isStarting ? `${unusable.message} ${START_HINT}` : unusable.message,
          after: RETURN_POLL,
        };
      }
      case 'Publish':
        await this.publish(work);
        return unusable;
      case 'GoBack':
        return this.goBack(work, hub!);
      case 'GoBackUnchecked':
        return this.goBackUnchecked(work, hub!);
      case 'Heal':
        return this.heal(work, hub!);
      default:
        if (!record) await this.publish(work);
        return unusable;
    }
  }

  /** The next start of the pod reads it; with hot-reload nothing causes one. */
  private async publish({ resource, content, policy, record, observed }: UnusableWork): Promise<void> {
    const { files, restart, marker } = content;
    const mayRestart = !record || observed.mode === 'recovery' || policy.strategy !== 'hot-reload';
    const written = { files, hash: marker.configuration };
    await publishConfiguration(this.services, resource, written, mayRestart ? restart : undefined);
  }

  /**
   * One restart into recovery mode, and one out of it. What failed is in the record before anything is written, so that no
   * crash repeats it.
   */
  private async goBack(work: UnusableWork, hub: Hub): Promise<Outcome> {
    const { resource, content, policy, observed, record, outcomes } = work;
    const { configuration: hash } = content.marker;
    const { pod } = observed;
    const isKnown = isSameMarker(record?.failed?.marker, content.marker);
    const good = await this.records.lastGood(hub, record);
    if (!isKnown && (!good || good.hash === hash)) return outcomes.failedOnlyStart(policy);
    if (!pod) return work.unusable;
    const former: ConfigurationRecord = isKnown
      ? record!
      : {
          files: good!.files,
          marker: formerMarker(good!, work),
          loaded: content.sectionsOf(good!.files),
          pending: [],
          start: { id: '' },
          warnings: '',
          failed: { marker: content.marker, pod: pod.uid },
          sentSettings: record?.sentSettings,
          lastLoad: record?.lastLoad,
        };
    if (!isKnown) await this.records.set(hub, former);
    const written = { files: former.files, hash: former.marker.configuration };
    // Another pod runs with what came after the failed content: it needs no restart.
    const isSamePod = pod.uid === former.failed?.pod;
    const restart = { configuration: written.hash, secrets: observed.published?.restart.secrets };
    await publishConfiguration(this.services, resource, written, isSamePod ? restart : undefined);
    if (isSamePod && isSameRestart(pod.restart, restart))
      await this.replacePod(hub, 'recovery mode with a new configuration');
    return new Outcomes(resource, content, former).failedStart(undefined, observed.heldBy);
  }

  private async goBackUnchecked(work: UnusableWork, hub: Hub): Promise<Outcome> {
    const { resource, outcomes, record, policy } = work;
    const good = await this.records.lastGood(hub, record);
    if (!good) return outcomes.failedOnlyStart(policy);
    await publishConfiguration(this.services, resource, good);
    await this.replacePod(hub, 'recovery mode with an unchecked configuration');
    return outcomes.uncheckedStart();
  }

  /** A passing cause, such as a full disk, or a volume that was not there. The record says that it was tried. */
  private async heal(work: UnusableWork, hub: Hub): Promise<Outcome> {
    const { resource, content, observed, outcomes } = work;
    const record = work.record!;
    const { files, marker } = content;
    await publishWithoutRestart(this.services, resource, { files, hash: marker.configuration });
    const { pod } = observed;
    if (!pod) return work.unusable;
    const isReplaced = record.replacedPod !== undefined && record.replacedPod !== pod.uid;
    if (isReplaced) return outcomes.healing(true);
    if (record.replacedPod === undefined) await this.records.set(hub, { ...record, replacedPod: pod.uid });
    await this.replacePod(hub, 'recovery mode with a configuration that it has run with');
    return outcomes.healing(false);
  }

  /** Has no effect while a rollout is about to replace the pod, or its hub must not be interrupted. */
  private async replacePod(hub: Hub, reason: string): Promise<void> {
    const { namespace, name } = hub.metadata;
    const pod = this.services.cache.get<Pod>(builtin.Pod.kind, namespace, objectNames(name).pod);
    if (pod) await this.restarts.restart(hub, pod, reason);
  }

  private async syncHttp(
    resource: HubConfiguration,
    outcome: Outcome,
    { strategy }: Pick<ReloadPolicy, 'strategy'>,
    hub: Hub,
    client: HubClient,
    { forced, mayRestart }: { readonly forced: boolean; readonly mayRestart: boolean },
  ): Promise<Outcome> {
    if (this.loads.isLoading(hub)) return outcome;
    const record = await this.records.get(hub);
    if (!record) return outcome;
    const policy = {
      strategy,
      forced,
      mayRestart,
      sent: record.sentSettings,
      remember: (sentSettings: SentSettings | undefined) =>
        this.records.set(hub, { ...record, sentSettings }),
    };
    const result = await syncHttpSettings(client, record.files, policy);
    const isGone = result.source === null && resource.status?.httpSource === 'Api';
    return withHttp(isGone ? withEvent(outcome, httpSettingsKept) : outcome, result);
  }

  /** A hub that reconnects may have been restarted, with other files or with pending sections. */
  private followReconnects(
    { kind, metadata: { namespace, name } }: HubConfiguration,
    client: HubClient,
  ): void {
    if (this.followed.get(client) === name) return;
    this.followed.set(client, name);
    client.connection.onReconnect(() => {
      if (this.followed.get(client) === name) this.services.requeue(kind, namespace, name);
    });
  }
}

/** Secrets have no copy to go back to: the marker shows those of now. */
function formerMarker(
  { files, hash }: { readonly files: ConfigurationRecord['files']; readonly hash: string },
  { content: { marker } }: Work,
): ConfigurationRecord['marker'] {
  const showsSecrets = files['configuration.yaml']?.includes(SECRETS_HASH_KEY) ?? false;
  return {
    configuration: hash,
    ...(showsSecrets && marker.secrets !== undefined && { secrets: marker.secrets }),
  };
}

const TASKS: Readonly<Partial<Record<Known, LoadTask>>> = { Begun: 'adopt', InUse: 'check' };

const withEvent = (outcome: Outcome, event: EventSpec): Outcome => ({
  ...outcome,
  events: [...(outcome.events ?? []), event],
});

const httpSettingsKept: EventSpec = {
  type: 'Warning',
  reason: 'HttpSettingsKept',
  message:
    'The section http: is gone, and the hub keeps the settings that it got from it. Write the section with the values that you want, or change them in the hub.',
};

const changedOf = ({ record, content }: Work): string[] =>
  record ? changedParts(record.loaded, content.sections) : [];

const START_HINT = `The hub is starting, and the change waits for up to ${HUB_START_LIMIT / 60_000} minutes. Annotate this resource with ${userAnnotations.reconcileAt} to restart the hub with it now.`;

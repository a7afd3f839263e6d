import { isDeepStrictEqual } from 'node:util';
import type { HubClient } from '../../client/hub-client';
import { DEPENDENCY_REQUEUE, HUB_START_LIMIT } from '../../base/limits';
import type { Hub, HubConfiguration } from '../../kinds';
import { userAnnotations } from '../../kinds/annotations';
import { objectNames } from '../../kinds/object-names';
import { conditionOf } from '../../runtime/conditions';
import type { Outcome } from '../../runtime/outcome';
import type { HubClients } from '../hub-connection/hub-clients';
import { hubRedactor } from '../hub-connection/hub-redactor';
import type { Occupation, PodRestarts } from '../hub-pod/pod-restarts';
import type { Services } from '../services';
import { Outcomes, withHttp } from './conditions';
import { decide, FAILED_MODES, type Known, knownOf, type Step } from './decide';
import { type Content, filesOfNextPod } from './generate/generate';
import { isSameContent } from '../hub-pod/content-hashes';
import { textsOfHub } from './generate/texts';
import { notSetUp } from './load/components';
import type { LoadResult, LoadTask } from './load/hub-loader';
import { type Awaited, HTTP_POLL, type HttpPolicy, syncHttpSettings } from './load/http-settings';
import type { LoadJobs } from './load/load-jobs';
import { type DesiredContent, RunningContents } from './load/running-content';
import { observeUnusable, observeUsable, restartHeldBy, type UsableHub } from './record/observe';
import { foldersFound } from './record/folders';
import { publishConfiguration, publishLoaded, publishWithoutRestart } from './record/publish';
import type { ConfigurationRecord, ConfigurationRecords, SentSettings } from './record/record';
import { WaysBack } from './ways-back';
import { rejectionOf, type UnusableHub, type UnusableWork, type UsableWork, type Work } from './step-inputs';

/** The inputs of a step that need no answer of the hub. */
type Prepared = Omit<Work, 'observed' | 'last'>;

/** Milliseconds between checks whether a hub has used up its time to return, or its process has ended. */
const RETURN_POLL = 5_000;

const START_HINT = `The hub is starting, and the change waits for up to ${HUB_START_LIMIT / 60_000} minutes. Annotate this resource with ${userAnnotations.reconcileAt} to restart the hub with it now.`;

const TASKS: Readonly<Partial<Record<Known, LoadTask>>> = { Begun: 'adopt', InUse: 'check' };

/** The end of what a restart must not interrupt. */
const OCCUPATIONS: Readonly<Record<Occupation, string>> = {
  start: 'it has started completely',
  backup: 'it no longer makes or restores a backup',
};

/**
 * Brings a configuration into its hub: reads the record, observes the hub, decides on one step and takes it
 * (rules.md, "Reload or restart"). Only steps write.
 */
export class ConfigurationReconciler {
  /** For each client, the resource that is requeued when the client reconnects. */
  private readonly followed = new WeakMap<HubClient, string>();
  private readonly waysBack: WaysBack;

  constructor(
    private readonly services: Pick<
      Services,
      'cache' | 'applier' | 'secrets' | 'clock' | 'requeue' | 'texts'
    >,
    private readonly hubs: Pick<HubClients, 'contact'>,
    private readonly restarts: Pick<PodRestarts, 'restart' | 'occupation'>,
    private readonly records: ConfigurationRecords,
    private readonly loads: LoadJobs,
  ) {
    this.waysBack = new WaysBack(services, restarts, records);
  }

  async sync(desired: DesiredContent, access: UsableHub | UnusableHub, forced: boolean): Promise<Outcome> {
    const record = access.hub && (await this.record(access.hub, forced));
    const outcomes = new Outcomes(desired.resource, desired.content, record);
    const prepared = { ...desired, record, forced, outcomes };
    return 'client' in access ? this.syncUsable(prepared, access) : this.syncUnusable(prepared, access);
  }

  private async syncUnusable(prepared: Prepared, { hub, unusable }: UnusableHub): Promise<Outcome> {
    const { resource, outcomes, record } = prepared;
    const observed = await observeUnusable(this.services, this.hubs, resource, hub, record?.start);
    const status = { ...unusable.status, ...outcomes.generated };
    // The hub may not have answered the question for its mode, so it is asked again later.
    const after = observed.mode === 'recovery' ? { after: DEPENDENCY_REQUEUE } : {};
    const work = { ...prepared, observed, hub, unusable: { ...unusable, ...after, status } };
    return this.takeUnusable(decide(work), work);
  }

  private async syncUsable(prepared: Prepared, access: UsableHub): Promise<Outcome> {
    const { resource, policy, outcomes, forced } = prepared;
    const { hub, client } = access;
    this.followReconnects(resource, client);
    if (this.loads.isLoading(hub)) return outcomes.loading();
    const observed = await observeUsable(this.services, resource, access);
    const last = this.loads.result(prepared, hub, observed.start);
    const work = { ...prepared, ...access, observed, last };
    const outcome = await this.takeUsable(decide(work), work);
    return this.syncHttp(resource, outcome, access, { ...policy, forced }, prepared.content);
  }

  /**
   * @param forced drops earlier verdicts on contents from the record, so that the contents are tried again
   */
  private async record(hub: Hub, forced: boolean): Promise<ConfigurationRecord | undefined> {
    const record = await this.records.get(hub);
    if (!record || !forced) return record;
    const { failed, rejected, replacedPod, sentSettings, ...rest } = record;
    if (!(failed ?? rejected ?? replacedPod ?? sentSettings)) return record;
    await this.records.set(hub, rest);
    return rest;
  }

  /**
   * Reconciles the settings of the section `http:`. This is done even if the configuration cannot be
   * generated, since a trial of settings has to be ended within minutes.
   *
   * @param content undefined if the configuration cannot be generated
   */
  async syncHttp(
    resource: HubConfiguration,
    outcome: Outcome,
    { hub, client }: UsableHub,
    policy: Pick<HttpPolicy, 'strategy' | 'forced'>,
    content?: Content,
  ): Promise<Outcome> {
    if (this.loads.isLoading(hub)) return outcome;
    const record = await this.records.get(hub);
    if (!record) return outcome;
    const memory = {
      restartWaitsFor: () => this.restartWaitsFor(hub, outcome),
      hadSection: conditionOf(resource, 'HttpSettingsReady') !== undefined,
      sent: record.sentSettings,
      remember: (sentSettings: SentSettings | undefined) =>
        this.records.set(hub, { ...record, sentSettings }),
    };
    const { namespace, name } = hub.metadata;
    // The section of the loaded content is reused, since parsing the files of a large home again takes a
    // second.
    const section =
      content?.marker.configuration === record.marker.configuration
        ? content.http
        : await textsOfHub(this.services, namespace, name).httpSection(record.files);
    return withHttp(outcome, await syncHttpSettings(client, section, { ...policy, ...memory }));
  }

  /** What a restart of the hub for its settings has to wait for, see {@link HttpPolicy.restartWaitsFor}. */
  private async restartWaitsFor(hub: Hub, { reason, type }: Outcome): Promise<Awaited | undefined> {
    if (reason === 'RestartPending' && type !== 'Stalled')
      return { end: 'it has been restarted for other sections', after: HTTP_POLL };
    if (this.heldBy(hub) === undefined) {
      const occupation = await this.restarts.occupation(hub);
      if (occupation) return { end: OCCUPATIONS[occupation], after: HTTP_POLL };
    }
    // The Hub may have been suspended while its hub was asked. It may stay so for days.
    const heldBy = this.heldBy(hub);
    const end = `the Hub ${hub.metadata.name} no longer reports ${heldBy}`;
    return heldBy === undefined ? undefined : { end, after: DEPENDENCY_REQUEUE };
  }

  /** The reason why the latest version of the Hub cannot begin a restart. */
  private heldBy(hub: Hub): string | undefined {
    const { namespace, name } = hub.metadata;
    return restartHeldBy(this.services.cache.get<Hub>('Hub', namespace, name) ?? hub);
  }

  /**
   * Requeues the resource when the hub reconnects, since it may have restarted, with other files or with
   * pending sections.
   */
  private followReconnects({ kind, metadata: { namespace, name } }: HubConfiguration, client: HubClient) {
    if (this.followed.get(client) === name) return;
    this.followed.set(client, name);
    client.connection.onReconnect(() => {
      if (this.followed.get(client) === name) this.services.requeue(kind, namespace, name);
    });
  }

  /** Takes the step that was decided on. */
  private async takeUsable(step: Step, work: UsableWork): Promise<Outcome> {
    const { outcomes } = work;
    switch (step) {
      case 'ReportInUse':
        return this.reportInUse(work);
      case 'ReportRejected':
        return reportRejected(work);
      case 'ReportFailed':
        return this.reportFailedInUsable(work);
      case 'ReportLoad':
        return this.reportLoad(work, work.last!);
      case 'AwaitRestart':
        return this.awaitRestart(work);
      default:
        this.loads.start({ ...work, task: TASKS[knownOf(work)] ?? 'load' });
        return outcomes.loading();
    }
  }

  private async takeUnusable(step: Step, work: UnusableWork): Promise<Outcome> {
    const { outcomes, record, observed, unusable, content, hub } = work;
    switch (step) {
      case 'ReportRejected':
        return reportRejected(work);
      case 'ReportFailed':
        return this.reportFailed(work, hub!);
      case 'ReportNewFiles':
        return outcomes.newFiles(filesOfNextPod(record!.files, content.files));
      case 'ReportHeld':
        return outcomes.restarting(observed.heldBy);
      case 'Hold': {
        const hint = observed.mode === 'starting' ? ` ${START_HINT}` : '';
        return { ...unusable, message: unusable.message + hint, after: RETURN_POLL };
      }
      case 'GoBack':
        return this.waysBack.goBack(work, hub!);
      case 'GoBackUnchecked':
        return this.waysBack.goBackUnchecked(work, hub!);
      case 'Heal':
        return this.waysBack.heal(work, hub!);
      default:
        if (step === 'Publish' || !record) await this.publish(work);
        if (step === 'Publish' && hub) await this.waysBack.replaceFailed(work, hub);
        return { ...unusable, ...awaitedStart(work) };
    }
  }

  /**
   * Reports that the desired content has failed, while the hub runs with other content. If the hub has
   * restarted since, the record is updated, which drops verdicts from the start before.
   */
  private async reportFailedInUsable(work: UsableWork): Promise<Outcome> {
    const { resource, hub } = work;
    const record = (await new RunningContents(this.services, this.records).find(work)) ?? work.record!;
    await publishWithoutRestart(this.services, resource, record);
    return this.reportFailed({ ...work, record }, hub, record.marker.configuration);
  }

  /**
   * Reports that the hub has loaded the content. The outcome is Ready only when the integration of each
   * section is set up in the hub.
   */
  private async reportInUse(work: UsableWork): Promise<Outcome> {
    const { resource, content, outcomes, hub, client, record, observed } = work;
    const { files, sections, definitions } = content;
    await publishLoaded(this.services, resource, hub, content);
    // The record was written by an earlier version of the operator, without a digest of the pod or without
    // the ids of definitions.
    const isOlder = record?.start.workload === undefined && observed.start.workload !== undefined;
    if (record && (isOlder || !isDeepStrictEqual(record.definitions ?? {}, definitions)))
      await this.records.set(hub, { ...record, definitions, start: isOlder ? observed.start : record.start });
    if (record?.warnings) return outcomes.loaded();
    const texts = Object.values(files);
    const isIncluded = (name: string) =>
      texts.some((text) => text.includes(name)) || content.targets.some(({ path }) => path === name);
    const empty = observed.pod?.createdFiles.filter(isIncluded) ?? [];
    if (empty.length > 0) return outcomes.includesNothing(empty);
    const folders = foldersFound(this.services, hub.metadata, content.targets, observed.pod?.folders);
    if (folders.missing.length > 0) return outcomes.foldersMissing(folders.missing);
    const redact = await hubRedactor(this.services, hub);
    const missing = await notSetUp(client, sections, (text) => redact(client.rest.redact(text)));
    if (missing) return outcomes.notLoaded(missing.sections, missing.words);
    return folders.unknown.length > 0
      ? outcomes.foldersUnknown(folders.unknown)
      : outcomes.loaded(folders.empty);
  }

  /** The outcome of a load that ended and need not be repeated. */
  private async reportLoad(work: UsableWork, result: LoadResult): Promise<Outcome> {
    const { resource, content, policy, outcomes } = work;
    switch (result.type) {
      case 'rejected':
        return outcomes.checkFailed(result.problem);
      case 'restart':
        return this.awaitRestart(work, result.because);
      case 'new-files':
        return outcomes.newFiles(result.names);
      case 'loaded':
        return outcomes.restartNeeded(result.pending, policy);
      case 'failed':
        return outcomes.reloadFailed(result.message, result.sections);
      case 'unseen':
        if (policy.strategy === 'hot-reload') return outcomes.newPodNeeded();
        await publishConfiguration(this.services, resource, content, content.restart);
        return this.awaitRestart(work, []);
    }
  }

  /**
   * Waits for the restart that loads the content. If the pod was already started for this content, its
   * template does not change, so the pod is deleted.
   */
  private async awaitRestart(work: UsableWork, sections?: readonly string[]): Promise<Outcome> {
    const { resource, content, observed, record, outcomes, hub } = work;
    const { pod, template, published, heldBy } = observed;
    const isDecided = isSameContent(published?.restart, content.restart);
    const isBegun = isDecided && isSameContent(template, content.restart);
    if (isBegun && isSameContent(pod?.restart, content.restart)) {
      if (isSameContent(pod!.begunWith, content.marker) && pod!.uid !== record?.start.pod) {
        const { configuration } = objectNames(resource.spec.hubRef.name);
        const message = `The hub does not read the files of the ConfigMap ${configuration}, although its pod has started with them. Read the log of the pod.`;
        return outcomes.reloadFailed(message);
      }
      if ((await this.restarts.restart(hub, 'it has to read its configuration')) === 'held')
        return outcomes.restarting(heldBy, sections);
    }
    return outcomes.restarting(isBegun ? undefined : heldBy, sections);
  }

  /** @param running hash of the configuration that the hub runs with, undefined if the hub is not back yet */
  private async reportFailed(work: Work, hub: Hub, running?: string): Promise<Outcome> {
    const { resource, content, observed } = work;
    const record = work.record!;
    const { failed } = record;
    const words = observed.pod?.errorsBefore.join('\n');
    // The log of the failed start is kept during the next start and lost after it.
    const isNew = failed?.cause === undefined && words && observed.pod?.uid !== failed?.pod;
    const known = isNew ? { ...record, failed: { ...failed!, cause: words } } : record;
    if (isNew) await this.records.set(hub, known);
    return new Outcomes(resource, content, known).reverted({ ...observed, running });
  }

  /**
   * Publishes the content, which the next start of the pod reads. Under hot-reload no restart is requested.
   */
  private async publish({ resource, content, policy, observed }: UnusableWork): Promise<void> {
    const isFirst = observed.published === undefined;
    const mayRestart = isFirst || FAILED_MODES.has(observed.mode) || policy.strategy !== 'hot-reload';
    await publishConfiguration(this.services, resource, content, mayRestart ? content.restart : undefined);
  }
}

/** Polls a start with new content, since the end of the hub's process enqueues no reconcile. */
function awaitedStart(work: UnusableWork): { readonly after?: number } {
  const known = work.hub && knownOf(work);
  if (known === 'Restarting') return { after: DEPENDENCY_REQUEUE };
  return known === 'Begun' ? { after: RETURN_POLL } : {};
}

const reportRejected = (work: Work): Outcome => work.outcomes.checkFailed(rejectionOf(work) ?? '');

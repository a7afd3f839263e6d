import { getConfig } from '../../../client/setup/core';
import { HubError } from '../../../client/connection/errors';
import { HUB_START_LIMIT } from '../../../base/limits';
import type { HubClient } from '../../../client/hub-client';
import { hubStartId } from '../../../client/setup/hub-start-id';
import type { Hub, HubConfiguration } from '../../../kinds';
import { operatorAnnotations } from '../../../kinds/annotations';
import { isInRecoveryMode } from '../../../kinds/hub';
import { objectNames } from '../../../kinds/object-names';
import { conditionOf } from '../../../runtime/conditions';
import { builtin } from '../../../runtime/types';
import type { HubClients } from '../../hub-connection/hub-clients';
import { hubRedactor } from '../../hub-connection/hub-redactor';
import { HUB_CONTAINER, hubContainer, type Pod } from '../../hub-pod/owned-objects';
import { type FoldersReport, prepareReport } from '../../hub-pod/termination-messages';
import { payloadHash } from '../../objects/payload-hash';
import type { Services } from '../../services';
import { isHeld } from '../../still-desired';
import { type ContentHashes, readMarker } from '../../hub-pod/content-hashes';
import { asInHub } from './folders';
import { type Published, publishedConfiguration, restartOfTemplate } from './publish';
import type { HubStart, ProcessEnds, Rejection } from './record';

/** The content that the present pod of a hub has started with. */
export interface PodStart {
  readonly uid: string;
  /** The hashes in the pod template for which the pod was started. Undefined if it has none. */
  readonly restart: ContentHashes | undefined;
  /**
   * The content that the hub in this pod started with. Undefined if it is not known, or if the hub has
   * restarted in this pod.
   */
  readonly begunWith?: ContentHashes | undefined;
  /**
   * The content that `prepare-config` accepted. Later starts of the hub in this pod read the files that are
   * published by then.
   */
  readonly preparedWith?: ContentHashes | undefined;
  /** Set when the hub's process has repeatedly ended since it was last seen running, and does not run now. */
  readonly ends?: ProcessEnds | undefined;
  /** Number of restarts of the hub's container. */
  readonly restarts?: number | undefined;
  /** A digest of everything in the pod except the configuration: image, limits, community integrations. */
  readonly workload?: string | undefined;
  /**
   * The content that `prepare-config` rejected, and the reason: the hub runs with the last good copy on its
   * volume.
   */
  readonly rejected?: Rejection | undefined;
  /** Included files that were missing and were created as empty files. */
  readonly createdFiles: readonly string[];
  /**
   * The folders that `prepare-config` has checked. Undefined if that init container is of an earlier version.
   */
  readonly folders?: FoldersReport | undefined;
  /** The errors that the hub logged in its previous start, if that ended in recovery mode. */
  readonly errorsBefore: readonly string[];
}

/**
 * Observes the start of the hub's pod.
 *
 * @returns undefined when there is no pod, or it is being deleted
 */
async function podStart(
  services: ObserveServices,
  hub: Hub,
  lastSeen: HubStart | undefined,
): Promise<PodStart | undefined> {
  const pod = podOf(services, hub);
  if (!pod || pod.metadata.uid === undefined || pod.metadata.deletionTimestamp) return undefined;
  const { uid, annotations = {} } = pod.metadata;
  const configuration = annotations[operatorAnnotations.configHash];
  const secrets = annotations[operatorAnnotations.secretsHash];
  const restart = configuration === undefined ? undefined : { configuration, secrets };
  const report = prepareReport(pod);
  if (!report) return { uid, restart, createdFiles: [], errorsBefore: [] };
  const redact = await hubRedactor(services, hub);
  const start = {
    uid,
    restart,
    workload: workloadOf(pod, report.version),
    ends: processEnds(pod, lastSeen, redact),
    restarts: hubContainer(pod)?.restartCount,
    createdFiles: report.created,
    folders: asInHub(report.folders, pod),
    errorsBefore: report.lastStart.map(redact),
  };
  if (report.result === 'replaced' || report.result === 'refused') {
    const problem = redact(report.problems.map(({ text }) => text).join('\n'));
    return { ...start, rejected: { marker: report.content ?? { configuration: '' }, problem } };
  }
  if (report.result !== 'loaded' && report.result !== 'unchanged') return start;
  const isFirstRun = (hubContainer(pod)?.restartCount ?? 0) === 0;
  return { ...start, preparedWith: report.content, ...(isFirstRun && { begunWith: report.content }) };
}

/** A digest of the pod without its node, which the scheduler chooses. */
function workloadOf({ metadata, spec }: Pod, version: string): string {
  const community = metadata.annotations?.[operatorAnnotations.communityHash];
  return payloadHash({ spec: { ...spec, nodeName: undefined }, community, version });
}

/** Number of ends of the process that may be accidental. */
const ENDS_OF_CHANCE = 3;

/**
 * Exit codes for ends that the configuration did not cause: a stop, also by a probe (0, 143), a restart that
 * the hub requested (100), and a kill from outside (137).
 */
const ENDS_FROM_OUTSIDE: ReadonlySet<number> = new Set([0, 100, 137, 143]);

/**
 * The ends of a process that repeatedly failed soon after its start.
 *
 * @param lastSeen the start in which the hub was last seen running; ends up to then do not count
 * @returns undefined when there are too few ends, and while the process runs, since that run may succeed
 */
function processEnds(
  pod: Pod,
  lastSeen: HubStart | undefined,
  redact: (text: string) => string,
): ProcessEnds | undefined {
  const { restartCount = 0, state = {}, lastState } = hubContainer(pod) ?? {};
  const isBackingOff = state.waiting?.reason === 'CrashLoopBackOff';
  const end = state.terminated ?? (isBackingOff ? lastState?.terminated : undefined);
  const isOfPod = lastSeen !== undefined && lastSeen.pod === pod.metadata.uid;
  const runsBefore = isOfPod ? (lastSeen.restarts ?? restartCount) + 1 : 0;
  const times = restartCount + 1 - runsBefore;
  if (!end || times <= ENDS_OF_CHANCE) return undefined;
  const { exitCode = 0, reason, message = '', startedAt, finishedAt } = end;
  // A hub that has run for this long has started successfully.
  if (Date.parse(String(finishedAt)) - Date.parse(String(startedAt)) >= HUB_START_LIMIT) return undefined;
  const isOutOfMemory = reason === 'OOMKilled';
  if (isOutOfMemory ? !hasMemoryLimit(pod) : ENDS_FROM_OUTSIDE.has(exitCode)) return undefined;
  const last = `${isOutOfMemory ? `${reason}, ` : ''}exit code ${exitCode}`;
  return { times, last, words: lastLines(redact(message)) };
}

/**
 * Reports whether the pod has a memory limit. Without one, the kill means that the node is short of memory,
 * which may have another cause.
 */
function hasMemoryLimit({ spec }: Pod): boolean {
  const container = spec?.containers?.find(({ name }) => name === HUB_CONTAINER);
  return [container, spec].some((each) => each?.resources?.limits?.['memory'] !== undefined);
}

const lastLines = (text: string): string =>
  text
    .trim()
    .split('\n')
    .slice(-3)
    .map((line) => line.slice(0, 300))
    .join('\n');

export type HubMode =
  | 'usable'
  /** The hub came up in recovery mode. */
  | 'recovery'
  /** The hub is starting: its container runs, and it loads its integrations or migrates its database. */
  | 'starting'
  /** The hub runs and does not accept the operator's token. */
  | 'locked'
  /** The process of the hub ends again and again ({@link PodStart.ends}). */
  | 'crashing'
  /** Any other state: there is no pod, or the hub does not respond. */
  | 'away';

/**
 * The state of a hub, and of its objects in the cluster, with respect to its configuration. It is observed
 * once per reconcile.
 */
export interface Observed {
  readonly mode: HubMode;
  /** The start of a usable hub. */
  readonly start?: HubStart | undefined;
  /** The marker in a usable hub. Undefined if the configuration that it has read has none. */
  readonly shown?: ContentHashes | undefined;
  readonly pod?: PodStart | undefined;
  readonly published?: Published | undefined;
  /** The hashes in the pod template. Undefined if there is no StatefulSet. */
  readonly template?: ContentHashes | undefined;
  /** The reason why the Hub cannot begin a restart. */
  readonly heldBy?: string | undefined;
  /** Milliseconds since the hub began to start, or was last usable. Infinite if not known. */
  readonly unusableFor: number;
}

export interface UsableHub {
  readonly hub: Hub;
  readonly client: HubClient;
}

export interface ObservedUsable extends Observed {
  readonly start: HubStart;
}

type ObserveServices = Pick<Services, 'cache' | 'secrets' | 'clock'>;

export async function observeUsable(
  services: ObserveServices,
  resource: HubConfiguration,
  { hub, client }: UsableHub,
): Promise<ObservedUsable> {
  const cluster = await observeCluster(services, resource, hub, undefined);
  const id = await hubStartId(client.connection);
  const { uid: pod, workload, restarts } = cluster.pod ?? {};
  const start = { id, version: hub.status?.version, pod, workload, restarts };
  return { ...cluster, mode: 'usable', start, shown: await readMarker(client), unusableFor: 0 };
}

/**
 * Observes a hub that cannot be used, or whose Hub does not exist.
 *
 * @param lastSeen the start of the hub in the record
 */
export async function observeUnusable(
  services: ObserveServices,
  hubs: Pick<HubClients, 'contact'>,
  resource: HubConfiguration,
  hub: Hub | undefined,
  lastSeen: HubStart | undefined,
): Promise<Observed> {
  const cluster = await observeCluster(services, resource, hub, lastSeen);
  if (!hub) return { ...cluster, mode: 'away', unusableFor: Infinity };
  const pod = podOf(services, hub);
  const mode = cluster.pod?.ends ? 'crashing' : await unusableMode(hubs, hub, pod);
  const ready = conditionOf(hub, 'Ready');
  const startedAt = hubContainer(pod)?.state?.running?.startedAt;
  const since = mode === 'starting' ? startedAt : ready?.lastTransitionTime;
  const elapsed = services.clock.now() - Date.parse(since ?? '');
  return { ...cluster, mode, unusableFor: Number.isNaN(elapsed) ? Infinity : elapsed };
}

const podOf = ({ cache }: ObserveServices, { metadata: { namespace, name } }: Hub): Pod | undefined =>
  cache.get<Pod>(builtin.Pod.kind, namespace, objectNames(name).pod);

async function observeCluster(
  services: ObserveServices,
  resource: HubConfiguration,
  hub: Hub | undefined,
  lastSeen: HubStart | undefined,
) {
  return {
    pod: hub && (await podStart(services, hub, lastSeen)),
    published: publishedConfiguration(services, resource),
    template: restartOfTemplate(services, resource),
    heldBy: hub && restartHeldBy(hub),
  };
}

async function unusableMode(hubs: Pick<HubClients, 'contact'>, hub: Hub, pod: Pod | undefined) {
  if (isInRecoveryMode(hub)) return (await answersInRecoveryMode(hubs, hub)) ? 'recovery' : 'away';
  const reason = conditionOf(hub, 'Ready')?.reason ?? '';
  if (LOCKED.has(reason)) return 'locked';
  const container = hubContainer(pod);
  if (!container?.state?.running) return 'away';
  return container.started === false || reason === 'ApiNotLoaded' ? 'starting' : 'away';
}

/** Reasons in the condition of a Hub whose hub responds and refuses the operator. A restart does not help. */
const LOCKED: ReadonlySet<string> = new Set(['TokenNotAvailable', 'TokenRejected', 'Bootstrapping']);

/**
 * Asks the hub whether it is in recovery mode, since the condition of the Hub may be from the start before.
 */
async function answersInRecoveryMode(hubs: Pick<HubClients, 'contact'>, hub: Hub): Promise<boolean> {
  const contacted = await hubs.contact(hub);
  if ('missing' in contacted) return false;
  try {
    return (await getConfig(contacted.client.rest)).recovery_mode === true;
  } catch (error) {
    if (!(error instanceof HubError)) throw error;
    return false; // the hub does not respond, or the reconcile of the Hub repairs the access
  }
}

/**
 * The reason why the Hub cannot begin a restart. A field or an annotation that was set a moment ago is in no condition
 * yet, and holds the restart all the same.
 *
 * @returns undefined when it can
 */
export function restartHeldBy(hub: Hub): string | undefined {
  const suspended = conditionOf(hub, 'Suspended')?.reason ?? (hub.spec.suspend ? 'Suspended' : undefined);
  const isDryRun = isHeld(hub) || conditionOf(hub, 'Ready')?.reason === 'DryRun';
  return suspended ?? (isDryRun ? 'DryRun' : hub.status?.restartHeld);
}

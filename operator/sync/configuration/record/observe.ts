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
import { type ContentHashes, readMarker } from '../../hub-pod/content-hashes';
import { asInHub } from './folders';
import { type Published, publishedConfiguration, restartOfTemplate } from './publish';
import type { HubStart, ProcessEnds, Rejection } from './record';

/** The content that the present pod of a hub has begun with. */
export interface PodStart {
  readonly uid: string;
  /** The decision that it was started for; undefined: none. */
  readonly restart: ContentHashes | undefined;
  /** The content that its hub began with. Undefined: another one, not known, or the hub has started again in this pod. */
  readonly begunWith?: ContentHashes | undefined;
  /** The content that `prepare-config` accepted. Each later start in the pod reads the files that are published by then. */
  readonly preparedWith?: ContentHashes | undefined;
  /** The process of the hub has ended again and again, by itself, since it was last seen to run, and does not run now. */
  readonly ends?: ProcessEnds | undefined;
  /** How often the container of the hub was restarted. */
  readonly restarts?: number | undefined;
  /** A digest of all that it was made of beside the configuration: image, limits, community integrations. */
  readonly workload?: string | undefined;
  /** The content that `prepare-config` rejected, and why: the hub runs with the last good copy of its volume. */
  readonly rejected?: Rejection | undefined;
  /** Included files that do not exist elsewhere and were made empty. */
  readonly createdFiles: readonly string[];
  /** The folders that `prepare-config` has looked for; undefined: it is one of an earlier version. */
  readonly folders?: FoldersReport | undefined;
  /** The errors that the hub logged in the start before, which ended in recovery mode. */
  readonly errorsBefore: readonly string[];
}

/** Undefined: there is no pod, or it is going. */
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

/** The node is left out: which one a pod gets is chance. */
function workloadOf({ metadata, spec }: Pod, version: string): string {
  const community = metadata.annotations?.[operatorAnnotations.communityHash];
  return payloadHash({ spec: { ...spec, nodeName: undefined }, community, version });
}

/** More ends of the process than these are no chance. */
const ENDS_OF_CHANCE = 3;

/** A stop, also by a probe, a restart that the hub asked for, and a kill from outside. */
const ENDS_FROM_OUTSIDE: ReadonlySet<number> = new Set([0, 100, 137, 143]);

/**
 * Undefined as well while the process runs: that run may be the one that lasts.
 *
 * @param lastSeen start that the hub was last seen to run in: it and those before say nothing of what came later
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
  // A hub that has run for so long has started.
  if (Date.parse(String(finishedAt)) - Date.parse(String(startedAt)) >= HUB_START_LIMIT) return undefined;
  const isOutOfMemory = reason === 'OOMKilled';
  if (isOutOfMemory ? !hasMemoryLimit(pod) : ENDS_FROM_OUTSIDE.has(exitCode)) return undefined;
  const last = `${isOutOfMemory ? `${reason}, ` : ''}exit code ${exitCode}`;
  return { times, last, words: lastLines(redact(message)) };
}

/** Without one, memory is short on the node, which may have another cause. */
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
  /** The hub starts: its container runs, and it loads its integrations or migrates its database. */
  | 'starting'
  /** The hub runs and does not accept the operator's token. */
  | 'locked'
  /** The process of the hub ends again and again ({@link PodStart.ends}). */
  | 'crashing'
  /** Anything else: there is no pod, or the hub does not answer. */
  | 'away';

/** What a hub and its objects in the cluster show of its configuration, observed once per reconcile. */
export interface Observed {
  readonly mode: HubMode;
  /** The start of a usable hub. */
  readonly start?: HubStart | undefined;
  /** The marker in a usable hub; undefined: it has read a configuration without one. */
  readonly shown?: ContentHashes | undefined;
  readonly pod?: PodStart | undefined;
  readonly published?: Published | undefined;
  /** The decision in the pod template; undefined: there is no StatefulSet. */
  readonly template?: ContentHashes | undefined;
  /** The reason for which the Hub cannot begin with a restart. */
  readonly heldBy?: string | undefined;
  /** Milliseconds since the hub began to start, or was usable; infinite: not known. */
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
 * Observes a hub that cannot be used, or that does not exist.
 *
 * @param lastSeen the start of the hub that the record is of
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

/** Reasons of a Hub whose hub answers and refuses the operator: a restart helps with none of them. */
const LOCKED: ReadonlySet<string> = new Set(['TokenNotAvailable', 'TokenRejected', 'Bootstrapping']);

/** The condition of the Hub may be of the start before. */
async function answersInRecoveryMode(hubs: Pick<HubClients, 'contact'>, hub: Hub): Promise<boolean> {
  const contacted = await hubs.contact(hub);
  if ('missing' in contacted) return false;
  try {
    return (await getConfig(contacted.client.rest)).recovery_mode === true;
  } catch (error) {
    if (!(error instanceof HubError)) throw error;
    return false; // it says nothing now; the Hub repairs the access
  }
}

/** The reason for which the Hub cannot begin with a restart. Undefined: a restart begins by itself. */
export function restartHeldBy(hub: Hub): string | undefined {
  const suspended = conditionOf(hub, 'Suspended')?.reason;
  const isDryRun = conditionOf(hub, 'Ready')?.reason === 'DryRun';
  return suspended ?? (isDryRun ? 'DryRun' : hub.status?.restartHeld);
}

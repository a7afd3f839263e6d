import { HUB_RETURN_LIMIT, HUB_START_LIMIT } from '../../base/limits';
import { filesOfNextPod, type Content } from './generate/generate';
import { isSameContent } from '../hub-pod/content-hashes';
import type { LoadResult } from './load/hub-loader';
import { changedParts, decideReload, type ReloadPolicy } from './load/reload-decision';
import type { HubMode, Observed } from './record/observe';
import type { ConfigurationRecord } from './record/record';

/** All inputs of a decision. */
export interface Situation {
  readonly content: Content;
  readonly policy: ReloadPolicy;
  readonly observed: Observed;
  /** Undefined if no content is known to have run in this hub. */
  readonly record: ConfigurationRecord | undefined;
  /**
   * The result of the last load, if it was a load of this content, with this policy, in this start of the
   * hub.
   */
  readonly last?: LoadResult | undefined;
  /** A full reconcile was requested, so earlier answers do not count. */
  readonly forced: boolean;
}

/** The operator's knowledge of the desired content in the present start of the hub. */
export type Known =
  /** The hub has loaded the content, as far as the operator can see, and no section waits for a restart. */
  | 'InUse'
  /** The hub has loaded the content, and some sections wait for a restart. */
  | 'Pending'
  /** The hub has started with the content, but this start is not in the record yet. */
  | 'Begun'
  /** The check by the hub, or at the start of its pod, rejected the content. */
  | 'Rejected'
  /** The hub came up in recovery mode with the content, or its process ended. */
  | 'Failed'
  /** A restart for the content is published but has not begun. */
  | 'Restarting'
  /**
   * The content is published, but its check has no result, since the operator crashed between the write and
   * the check.
   */
  | 'Unchecked'
  | 'New';

export type Step =
  | 'ReportInUse'
  | 'ReportRejected'
  | 'ReportFailed'
  | 'ReportLoad'
  | 'ReportNewFiles'
  /** Report that the Hub cannot begin a restart. Content that needs one is not published. */
  | 'ReportHeld'
  /** Make the running hub check and load the content. */
  | 'Load'
  | 'AwaitRestart'
  /** Wait for the hub, which starts with the content. */
  | 'Await'
  /** Wait for the hub: once it is back, it can load the content without a restart. */
  | 'Hold'
  /**
   * Publish the content with a restart, and wait. If a pod that was already started for the content failed,
   * it is replaced.
   */
  | 'Publish'
  /**
   * Publish the former content, restart the pod that failed, and record the failure of the present content.
   */
  | 'GoBack'
  /** Publish the former content, and replace the pod that was started with unchecked content. */
  | 'GoBackUnchecked'
  /**
   * The hub is in recovery mode with content that it has run with. Publish that content and replace the pod,
   * once.
   */
  | 'Heal';

/**
 * Steps for a hub that cannot be used. The operator waits for it. The time limit for a change depends on the
 * mode ({@link HOLD_LIMITS}).
 */
// prettier-ignore
const UNUSABLE: Readonly<Record<Known, Step>> =
  { InUse: 'Await', Pending: 'Await', Begun: 'Await', Rejected: 'ReportRejected', Failed: 'ReportFailed', Restarting: 'Await', Unchecked: 'Hold', New: 'Hold' };

const STEPS: Readonly<Record<HubMode, Readonly<Record<Known, Step>>>> = {
  // prettier-ignore
  usable: { InUse: 'ReportInUse', Pending: 'Load', Begun: 'Load', Rejected: 'ReportRejected', Failed: 'ReportFailed', Restarting: 'AwaitRestart', Unchecked: 'Load', New: 'Load' },
  // prettier-ignore
  recovery: { InUse: 'Heal', Pending: 'GoBack', Begun: 'GoBack', Rejected: 'Heal', Failed: 'GoBack', Restarting: 'AwaitRestart', Unchecked: 'GoBackUnchecked', New: 'Publish' },
  crashing: { ...UNUSABLE, Begun: 'GoBack' },
  starting: UNUSABLE,
  locked: UNUSABLE,
  away: UNUSABLE,
};

/** Modes of a hub that could not start. */
export const FAILED_MODES: ReadonlySet<HubMode> = new Set(['recovery', 'crashing']);

/**
 * Milliseconds that a change waits for a hub in each mode, since a running hub may load it without a restart.
 */
const HOLD_LIMITS: Readonly<Record<HubMode, number>> = {
  usable: 0,
  recovery: 0,
  crashing: 0,
  starting: HUB_START_LIMIT,
  locked: Infinity,
  away: HUB_RETURN_LIMIT,
};

/**
 * Decides on the next step. The decision is a pure function of observed state, so that another process can
 * continue if this one is killed at any point.
 */
export function decide(situation: Situation): Step {
  const { observed, record, last, forced } = situation;
  const { mode } = observed;
  const known = knownOf(situation);
  // A pod that fell back to former content reports the rejection until another pod starts.
  if (forced && known === 'Rejected') {
    if (mode === 'usable') return 'Load';
    if (!isRestarted(situation)) return publishIfAllowed(situation);
  }
  const step = STEPS[mode][known];
  switch (step) {
    case 'ReportInUse':
      return forced ? 'Load' : step;
    case 'Load':
      return last && !forced && !isToBeRepeated(situation, last) ? 'ReportLoad' : step;
    case 'Hold':
      return isHeldLongEnough(situation) ? publishIfAllowed(situation) : step;
    case 'Publish':
      return publishIfAllowed(situation);
    case 'AwaitRestart':
      return mode === 'recovery' && observed.heldBy !== undefined ? 'GoBackUnchecked' : step;
    case 'ReportFailed':
      // A crash came between the write of the record and the publication.
      return mode !== 'usable' && isPublished(situation) ? 'GoBack' : step;
    case 'GoBack':
      if (mode === 'crashing' && !isWorkloadOfRecord(situation)) return 'Await';
      return known === 'Failed' && isBack(situation) ? 'Heal' : step;
    case 'Heal':
      return record ? step : 'ReportRejected';
    default:
      return step;
  }
}

/**
 * Reports whether a load has to be repeated: the loaded content is gone from the hub, or a restart was not
 * published because the Hub could not begin it.
 */
function isToBeRepeated({ content, observed }: Situation, last: LoadResult): boolean {
  if (last.type === 'loaded') return last.pending.length === 0;
  if (last.type !== 'restart' || observed.heldBy !== undefined) return false;
  return !isSameContent(observed.published?.restart, content.restart);
}

function isHeldLongEnough(situation: Situation): boolean {
  const { observed, record, forced } = situation;
  if (forced || !record || observed.unusableFor >= HOLD_LIMITS[observed.mode]) return true;
  return observed.mode === 'locked' && changesLogin(situation, record);
}

/** Parts of the configuration that determine who may log in, and from where. */
const LOGIN_PARTS: ReadonlySet<string> = new Set([
  'homeassistant.auth_providers',
  'homeassistant.auth_mfa_modules',
  'http',
]);

/**
 * Reports whether the change affects logins. If a hub refuses the operator because of its configuration, only
 * another configuration, with a restart, helps.
 */
const changesLogin = ({ content }: Situation, { loaded }: ConfigurationRecord): boolean =>
  changedParts(loaded, content.sections).some((part) => LOGIN_PARTS.has(part));

function publishIfAllowed(situation: Situation): Step {
  const { content, policy, observed, record } = situation;
  // The restart is already published, and the pod was started for it. Only a hub that cannot start needs yet
  // another pod.
  if (isRestarted(situation) && !FAILED_MODES.has(observed.mode)) return 'Await';
  if (record && observed.heldBy !== undefined) return 'ReportHeld';
  // With hot-reload no pod is started that could read new files, and a hub that restarts for another reason
  // could not read them either.
  const isKept = policy.strategy === 'hot-reload' && !FAILED_MODES.has(observed.mode);
  if (record && isKept && filesOfNextPod(record.files, content.files).length > 0) return 'ReportNewFiles';
  return 'Publish';
}

/** The operator's knowledge of the desired content. The first case that applies is returned. */
export function knownOf(situation: Situation): Known {
  const { content, observed, record } = situation;
  const { marker } = content;
  const { mode, pod, shown } = observed;
  if (isFailed(situation) && !isSameContent(shown, marker)) return 'Failed';
  if (isRejected(situation)) return 'Rejected';
  if (mode === 'usable') return knownOfUsable(situation);
  // The content of the record started completely before, unless some of its sections were still pending.
  const hasFailed = FAILED_MODES.has(mode);
  if (hasFailed && record && isSameContent(record.marker, marker))
    return record.pending.length === 0 ? 'InUse' : 'Begun';
  if (isRestartAhead(situation)) return 'Restarting';
  if (hasBegun(situation) && pod?.uid !== record?.start.pod) return 'Begun';
  if (hasFailed && isRestarted(situation) && !isOfAnother(situation)) return 'Begun';
  if (!isPublished(situation)) return 'New';
  if (record && mode !== 'recovery' && !wouldRestart(situation)) return 'InUse';
  const { configuration: hash } = marker;
  const isUnchecked =
    record?.marker.configuration !== hash && observed.published?.restart.configuration !== hash;
  return isUnchecked ? 'Unchecked' : 'New';
}

function knownOfUsable(situation: Situation): Known {
  const { content, observed, record } = situation;
  const { marker } = content;
  const { pod, shown } = observed;
  if (isSameContent(shown, marker)) {
    const isRecorded = isSameContent(record?.marker, marker);
    if (!isOfStart(situation)) {
      const hasBegun = !record || isRecorded || isSameContent(pod?.begunWith, marker) || isPodOf(situation);
      if (hasBegun) return 'Begun';
    } else if (isRecorded && isPublished(situation)) {
      return record!.pending.length > 0 ? 'Pending' : 'InUse';
    }
  }
  // With hot-reload, a restart that was published under another strategy is withdrawn.
  const isAhead = situation.policy.strategy !== 'hot-reload' && isRestartAhead(situation);
  return isAhead ? 'Restarting' : 'New';
}

/** Reports whether the record was made in the present start of the hub. */
const isOfStart = ({ observed: { start }, record }: Pick<Situation, 'observed' | 'record'>): boolean =>
  record !== undefined && record.start.id === start?.id && record.start.version === start.version;

/**
 * Reports whether the content has failed. Content that has run successfully since, after a forced reconcile,
 * counts as not failed.
 */
const isFailed = ({ content: { marker }, record }: Situation): boolean =>
  isSameContent(record?.failed?.marker, marker) && !isSameContent(record?.marker, marker);

const isPublished = ({ content, observed }: Situation): boolean =>
  observed.published?.hash === content.marker.configuration;

/**
 * Reports whether the content was rejected, either by the pod, which fell back to former content, or by the
 * hub's check. A rejection by the check is valid for one start of the hub, and while the hub cannot be used.
 */
function isRejected(situation: Situation): boolean {
  const { content, observed, record } = situation;
  if (isSameContent(observed.pod?.rejected?.marker, content.marker)) return true;
  if (!isSameContent(record?.rejected?.marker, content.marker)) return false;
  return observed.mode !== 'usable' || isOfStart(situation);
}

const isRestartPublished = (situation: Situation): boolean =>
  isPublished(situation) && isSameContent(situation.observed.published?.restart, situation.content.restart);

/** Reports whether a restart for the content is published and the present pod was started for it. */
const isRestarted = (situation: Situation): boolean =>
  isRestartPublished(situation) &&
  isSameContent(situation.observed.template, situation.content.restart) &&
  isSameContent(situation.observed.pod?.restart, situation.content.restart);

const isRestartAhead = (situation: Situation): boolean =>
  isRestartPublished(situation) && !isRestarted(situation);

/** Reports whether the present run of the hub in its pod began with the content. */
function hasBegun(situation: Situation): boolean {
  const { content, observed } = situation;
  const { begunWith, preparedWith } = observed.pod ?? {};
  if (isSameContent(begunWith, content.marker)) return true;
  return isSameContent(preparedWith, content.marker) && isPublished(situation);
}

/**
 * Reports whether the hub has started with other content in its pod, although the pod was started for this
 * content.
 */
function isOfAnother({ content: { marker }, observed: { pod }, record }: Situation): boolean {
  const configuration = pod?.preparedWith?.configuration;
  const isPrepared = configuration === undefined || configuration === marker.configuration;
  return !isPrepared || pod?.uid === record?.start.pod;
}

/** Reports whether the former content is published and the pod that failed is gone. */
function isBack({ observed: { pod, published }, record }: Situation): boolean {
  return published?.hash === record?.marker.configuration && pod?.uid !== record?.failed?.pod;
}

/**
 * Reports whether the pod differs only in its configuration from the pod in which the content of the record
 * ran.
 */
function isWorkloadOfRecord({ observed: { pod }, record }: Situation): boolean {
  return pod?.workload !== undefined && pod.workload === record?.start.workload;
}

/**
 * Reports whether the pod was started for the content. With `autoRestart: false`, changed secrets start no
 * pod.
 */
function isPodOf({ content: { marker, restart }, observed: { pod } }: Situation): boolean {
  return (
    isSameContent(pod?.restart, restart) &&
    (restart.secrets === undefined || restart.secrets === marker.secrets)
  );
}

/**
 * Reports whether the published files contain changes that only a restart loads, for example changed secrets.
 */
function wouldRestart({ content, policy, record }: Situation): boolean {
  const nothing = { services: new Set<string>(), httpByApi: true, notSetUp: new Set<string>() };
  return decideReload(policy, record!.loaded, content.sections, nothing).type === 'restart';
}

import { HUB_RETURN_LIMIT, HUB_START_LIMIT } from '../../base/limits';
import { filesOfNextPod, type Content } from './generate/generate';
import { isSameContent } from '../hub-pod/content-hashes';
import type { LoadResult } from './load/hub-loader';
import { changedParts, decideReload, type ReloadPolicy } from './load/reload-decision';
import type { HubMode, Observed } from './record/observe';
import type { ConfigurationRecord } from './record/record';

/** All that a decision depends on. */
export interface Situation {
  readonly content: Content;
  readonly policy: ReloadPolicy;
  readonly observed: Observed;
  /** Undefined: no content is known to have run in this hub. */
  readonly record: ConfigurationRecord | undefined;
  /** The result of the last load, if it was of this content, policy and start of the hub. */
  readonly last?: LoadResult | undefined;
  /** A person asks for a full reconcile: earlier answers do not count. */
  readonly forced: boolean;
}

/** The operator's knowledge of the desired content in the present start of the hub. */
export type Known =
  /** The hub has it, as far as can be seen; nothing of it waits for a restart. */
  | 'InUse'
  /** The hub has it, and sections wait for a restart. */
  | 'Pending'
  /** The hub has begun with it, and this start is not in the record. */
  | 'Begun'
  /** The check of the hub, or of its pod, rejected it. */
  | 'Rejected'
  /** The hub came up in recovery mode with it, or its process ended. */
  | 'Failed'
  /** A restart for it is published, which has not begun. */
  | 'Restarting'
  /** The content is published, and nothing is known of it: a crash came between a write and its check. */
  | 'Unchecked'
  | 'New';

export type Step =
  | 'ReportInUse'
  | 'ReportRejected'
  | 'ReportFailed'
  | 'ReportLoad'
  | 'ReportNewFiles'
  /** Nothing is published that needs a restart, since the Hub cannot begin with one. */
  | 'ReportHeld'
  /** Have the running hub check and load it. */
  | 'Load'
  | 'AwaitRestart'
  /** Wait for the hub: it starts with the content. */
  | 'Await'
  /** Wait for the hub, which can load the content without a restart once it is back. */
  | 'Hold'
  /** Publish it with a restart, and wait. A pod that was started for it before is replaced, if its hub could not start. */
  | 'Publish'
  /** Publish the content of before, with a restart of the pod that failed, and remember that this one failed. */
  | 'GoBack'
  /** Publish the content of before, and replace the pod that has got an unchecked one. */
  | 'GoBackUnchecked'
  /** Publish the content that the hub has run with, and replace the pod once: it is in recovery mode with that content. */
  | 'Heal';

/** A hub that cannot be used is waited for; how long a change waits for it depends on why ({@link HOLD_LIMITS}). */
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

/** The hub could not start. */
export const FAILED_MODES: ReadonlySet<HubMode> = new Set(['recovery', 'crashing']);

/** Milliseconds that a change waits for a hub: one that runs may load it without a restart. */
const HOLD_LIMITS: Readonly<Record<HubMode, number>> = {
  usable: 0,
  recovery: 0,
  crashing: 0,
  starting: HUB_START_LIMIT,
  locked: Infinity,
  away: HUB_RETURN_LIMIT,
};

/** Decides the next step: a pure function, so that a process that is killed anywhere is followed by one that goes on. */
export function decide(situation: Situation): Step {
  const { observed, record, last, forced } = situation;
  const { mode } = observed;
  const known = knownOf(situation);
  // A pod that fell back says the same until another one starts.
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
      // A crash came between the record and the publication.
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

/** The loaded content is not there any more, or a restart is not published because the Hub could not begin with it. */
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

/** Parts of the configuration that decide who may log in, and from where. */
const LOGIN_PARTS: ReadonlySet<string> = new Set([
  'homeassistant.auth_providers',
  'homeassistant.auth_mfa_modules',
  'http',
]);

/** A hub may refuse the operator because of its configuration: only another one, with a restart, frees it then. */
const changesLogin = ({ content }: Situation, { loaded }: ConfigurationRecord): boolean =>
  changedParts(loaded, content.sections).some((part) => LOGIN_PARTS.has(part));

function publishIfAllowed(situation: Situation): Step {
  const { content, policy, observed, record } = situation;
  // Nothing is left to be published. A hub that cannot start needs another pod all the same.
  if (isRestarted(situation) && !FAILED_MODES.has(observed.mode)) return 'Await';
  if (record && observed.heldBy !== undefined) return 'ReportHeld';
  // With hot-reload no pod is started that could read new files, and a hub that restarts by itself could not.
  const isKept = policy.strategy === 'hot-reload' && !FAILED_MODES.has(observed.mode);
  if (record && isKept && filesOfNextPod(record.files, content.files).length > 0) return 'ReportNewFiles';
  return 'Publish';
}

/** The operator's knowledge of the desired content. The first that applies counts. */
export function knownOf(situation: Situation): Known {
  const { content, observed, record } = situation;
  const { marker } = content;
  const { mode, pod, shown } = observed;
  if (isFailed(situation) && !isSameContent(shown, marker)) return 'Failed';
  if (isRejected(situation)) return 'Rejected';
  if (mode === 'usable') return knownOfUsable(situation);
  // A start with all of it went well before, unless sections of it were still waiting for one.
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
  // With hot-reload, a restart that was decided under another strategy is withdrawn.
  const isAhead = situation.policy.strategy !== 'hot-reload' && isRestartAhead(situation);
  return isAhead ? 'Restarting' : 'New';
}

/** Whether the record is of the present start of the hub. */
const isOfStart = ({ observed: { start }, record }: Pick<Situation, 'observed' | 'record'>): boolean =>
  record !== undefined && record.start.id === start?.id && record.start.version === start.version;

/** Whether the content has failed. One that has run since, after a person had asked for it, has not. */
const isFailed = ({ content: { marker }, record }: Situation): boolean =>
  isSameContent(record?.failed?.marker, marker) && !isSameContent(record?.marker, marker);

const isPublished = ({ content, observed }: Situation): boolean =>
  observed.published?.hash === content.marker.configuration;

/** By the pod that fell back, or by the check of the hub: that verdict falls with the start, and stays while the hub is away. */
function isRejected(situation: Situation): boolean {
  const { content, observed, record } = situation;
  if (isSameContent(observed.pod?.rejected?.marker, content.marker)) return true;
  if (!isSameContent(record?.rejected?.marker, content.marker)) return false;
  return observed.mode !== 'usable' || isOfStart(situation);
}

const isRestartPublished = (situation: Situation): boolean =>
  isPublished(situation) && isSameContent(situation.observed.published?.restart, situation.content.restart);

/** Whether a restart for the content is published, and the present pod was started for it. */
const isRestarted = (situation: Situation): boolean =>
  isRestartPublished(situation) &&
  isSameContent(situation.observed.template, situation.content.restart) &&
  isSameContent(situation.observed.pod?.restart, situation.content.restart);

const isRestartAhead = (situation: Situation): boolean =>
  isRestartPublished(situation) && !isRestarted(situation);

/** Whether the present run of the hub in its pod began with the content. */
function hasBegun(situation: Situation): boolean {
  const { content, observed } = situation;
  const { begunWith, preparedWith } = observed.pod ?? {};
  if (isSameContent(begunWith, content.marker)) return true;
  return isSameContent(preparedWith, content.marker) && isPublished(situation);
}

/** Whether the hub has begun with another content in its pod, although that was started for this one. */
function isOfAnother({ content: { marker }, observed: { pod }, record }: Situation): boolean {
  const configuration = pod?.preparedWith?.configuration;
  const isPrepared = configuration === undefined || configuration === marker.configuration;
  return !isPrepared || pod?.uid === record?.start.pod;
}

/** Whether the content of before is published, and the pod that failed is gone. */
function isBack({ observed: { pod, published }, record }: Situation): boolean {
  return published?.hash === record?.marker.configuration && pod?.uid !== record?.failed?.pod;
}

/** Whether nothing but the configuration differs from the pod in which the content of the record ran. */
function isWorkloadOfRecord({ observed: { pod }, record }: Situation): boolean {
  return pod?.workload !== undefined && pod.workload === record?.start.workload;
}

/** Whether the pod was started for the content. With `autoRestart: false`, pods are not started for the secrets of now. */
function isPodOf({ content: { marker, restart }, observed: { pod } }: Situation): boolean {
  return (
    isSameContent(pod?.restart, restart) &&
    (restart.secrets === undefined || restart.secrets === marker.secrets)
  );
}

/** Whether the published files hold what only a restart loads, as changed secrets do. */
function wouldRestart({ content, policy, record }: Situation): boolean {
  const nothing = { services: new Set<string>(), httpByApi: true, notSetUp: new Set<string>() };
  return decideReload(policy, record!.loaded, content.sections, nothing).type === 'restart';
}

import { FLOW_CONNECTION_RETRY, FLOW_RETRY, UNKNOWN_ERROR_ATTEMPTS } from '../../base/limits';
import { type AnswerHashes, keyedHash } from './answer-hashes';
import type { FlowProblem } from './flow/navigator';

/** The kind of a failure, by what can solve it. */
export type FailureKind =
  /** The device or the service does not respond. */
  | 'connection'
  /** The hub cannot set the integration up now. */
  | 'unavailable'
  /** The integration gives no reason. */
  | 'unknown'
  /** The integration gives a reason that may pass, such as a button that was not pressed. */
  | 'other'
  /** The answers do not fit the forms. */
  | 'answers'
  /** The hub has the device or service already. */
  | 'exists'
  /** Credentials were rejected: sent again and again, they lock an account. */
  | 'rejected';

/** The receiver of the answers. */
export interface Circumstances {
  /** Fields of the spec that decide which flows run. */
  readonly spec: readonly unknown[];
  /** Version of the hub. */
  readonly version: string;
  /** The entries of the domain and the devices that the hub has discovered. */
  readonly existing: readonly unknown[];
}

interface Retry {
  /** Milliseconds until the same answers are sent again after their n-th failure; Infinity: not by time. */
  readonly delay: (count: number) => number;
  /** What has to change before they are sent again at once, beside the answers. */
  readonly until: readonly (keyof Circumstances)[];
  /** An event of the hub may solve it. */
  readonly isSolvedByHub: boolean;
}

const never = () => Infinity;
const doubling = (count: number): number => {
  const [first, last] = FLOW_CONNECTION_RETRY;
  return Math.min(first * 2 ** (count - 1), last);
};

/** When the same answers are sent again (rules.md, "Integrations"). */
export const RETRIES: Readonly<Record<FailureKind, Retry>> = {
  connection: { delay: doubling, until: ['spec'], isSolvedByHub: false },
  unknown: { delay: doubling, until: ['spec'], isSolvedByHub: false },
  unavailable: { delay: () => FLOW_RETRY, until: ['spec'], isSolvedByHub: true },
  other: { delay: () => FLOW_RETRY, until: ['spec'], isSolvedByHub: true },
  answers: { delay: never, until: ['spec', 'version'], isSolvedByHub: false },
  exists: { delay: never, until: ['spec', 'version', 'existing'], isSolvedByHub: false },
  rejected: { delay: never, until: [], isSolvedByHub: false },
};

/** Keys of errors of a device or service that does not respond. */
const CONNECTION = /connect|time_?d?_?out|unreachable|unavailable|offline|no_response|host_down/;
/** Aborts that name an entry, or a device that the hub has discovered. */
const EXISTS = /^(already_|single_instance)|_success(ful)?$|mismatch/;
/** Errors of credentials that are not in a Secret. */
const CREDENTIALS =
  /auth|password|credential|token|api_key|denied|forbidden|pin\b|login|locked|username|mfa|otp|2fa|too_many|rate_limit|exceeded|privilege/;

/**
 * @param count failures of these answers without a reason, with this one
 * @param isDiscovered the hub has a discovered device of the integration, which a flow of the same device waits for
 */
export function failureKind(
  { kind, key = '', withSecret }: Pick<FlowProblem, 'kind' | 'key' | 'withSecret'>,
  count: number,
  isDiscovered: boolean,
): FailureKind {
  if (kind === 'unavailable') return 'unavailable';
  if (kind === 'answers' || kind === 'unasked') return 'answers';
  if (kind === 'lost') return 'connection';
  // A hub that a flow ends over and over must not log in with each start.
  if (kind === 'cut') return withSecret ? 'rejected' : 'unknown';
  if (key === 'already_in_progress') return isDiscovered ? 'exists' : 'connection';
  if (kind === 'abort' && EXISTS.test(key)) return 'exists';
  if (CONNECTION.test(key)) return 'connection';
  if (key === 'unknown' || key === '')
    return withSecret && count >= UNKNOWN_ERROR_ATTEMPTS ? 'rejected' : 'unknown';
  return withSecret || CREDENTIALS.test(key) ? 'rejected' : 'other';
}

/** Whether status records the failure, so that another process does not send the answers again. */
export const isFinal = (kind: FailureKind): boolean => RETRIES[kind].delay(1) === Infinity;

/** Identifies answers that failed, and what has to change before they are sent again (`status.rejectedHash`). */
export function rejectionHash(
  kind: FailureKind,
  hashes: AnswerHashes,
  circumstances: Circumstances,
  key: string,
): string {
  const sorted = Object.entries(hashes).sort(([a], [b]) => (a < b ? -1 : 1));
  return keyedHash([sorted, RETRIES[kind].until.map((each) => circumstances[each])], key);
}

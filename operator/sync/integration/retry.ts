import { FLOW_CONNECTION_RETRY, FLOW_RETRY, UNKNOWN_ERROR_ATTEMPTS } from '../../base/limits';
import { type AnswerHashes, keyedHash } from './answer-hashes';
import type { FlowProblem } from './flow/navigator';

/** The kind of a failure, by its possible solution. */
export type FailureKind =
  /** The device or the service does not respond. */
  | 'connection'
  /** The hub cannot set the integration up now. */
  | 'unavailable'
  /** The integration gives no reason. */
  | 'unknown'
  /** The integration gives a reason that may be temporary, such as a button that was not pressed. */
  | 'other'
  /** The answers do not fit the forms. */
  | 'answers'
  /** The hub already has the device or service. */
  | 'exists'
  /** Credentials were rejected. Sending them repeatedly could lock the account. */
  | 'rejected';

/** The circumstances of a flow, apart from the answers. */
export interface Circumstances {
  /** Fields of the spec that determine which flows run. */
  readonly spec: readonly unknown[];
  /** Version of the hub. */
  readonly version: string;
  /** The entries of the domain and the devices that the hub has discovered. */
  readonly existing: readonly unknown[];
}

interface Retry {
  /**
   * Milliseconds until the same answers are sent again after their n-th failure. Infinity if time does not
   * help.
   */
  readonly delay: (count: number) => number;
  /** Circumstances whose change causes an immediate attempt, like a change of the answers. */
  readonly until: readonly (keyof Circumstances)[];
  /** True if an event of the hub may solve the failure. */
  readonly isSolvedByHub: boolean;
}

const never = () => Infinity;
const doubling = (count: number): number => {
  const [first, last] = FLOW_CONNECTION_RETRY;
  return Math.min(first * 2 ** (count - 1), last);
};

/** The rules for sending the same answers again (rules.md, "Integrations"). */
export const RETRIES: Readonly<Record<FailureKind, Retry>> = {
  connection: { delay: doubling, until: ['spec'], isSolvedByHub: false },
  unknown: { delay: doubling, until: ['spec'], isSolvedByHub: false },
  unavailable: { delay: () => FLOW_RETRY, until: ['spec'], isSolvedByHub: true },
  other: { delay: () => FLOW_RETRY, until: ['spec'], isSolvedByHub: true },
  answers: { delay: never, until: ['spec', 'version'], isSolvedByHub: false },
  exists: { delay: never, until: ['spec', 'version', 'existing'], isSolvedByHub: false },
  rejected: { delay: never, until: [], isSolvedByHub: false },
};

/** Error keys for a device or service that does not respond. */
const CONNECTION = /connect|time_?d?_?out|unreachable|unavailable|offline|no_response|host_down/;
/** Abort keys that refer to an existing entry, or to a device that the hub has discovered. */
const EXISTS = /^(already_|single_instance)|_success(ful)?$|mismatch/;
/** Error keys that mean rejected credentials, even if no answer is from a Secret. */
const CREDENTIALS =
  /auth|password|credential|token|api_key|denied|forbidden|pin\b|login|locked|username|mfa|otp|2fa|too_many|rate_limit|exceeded|privilege/;

/**
 * The kind of a failure.
 *
 * @param count failures of these answers without a reason, including this one
 * @param isDiscovered the hub has discovered a device of the integration; a flow for the same device is
 * aborted until the discovery ends
 */
export function failureKind(
  { kind, key = '', withSecret }: Pick<FlowProblem, 'kind' | 'key' | 'withSecret'>,
  count: number,
  isDiscovered: boolean,
): FailureKind {
  if (kind === 'unavailable') return 'unavailable';
  if (kind === 'answers' || kind === 'unasked') return 'answers';
  if (kind === 'lost') return 'connection';
  // If a flow stops the hub again and again, credentials must not be sent after each start.
  if (kind === 'cut') return withSecret ? 'rejected' : 'unknown';
  if (key === 'already_in_progress') return isDiscovered ? 'exists' : 'connection';
  if (kind === 'abort' && EXISTS.test(key)) return 'exists';
  if (CONNECTION.test(key)) return 'connection';
  if (key === 'unknown' || key === '')
    return withSecret && count >= UNKNOWN_ERROR_ATTEMPTS ? 'rejected' : 'unknown';
  return withSecret || CREDENTIALS.test(key) ? 'rejected' : 'other';
}

/** Reports whether status records the failure, so that another process does not send the answers again. */
export const isFinal = (kind: FailureKind): boolean => RETRIES[kind].delay(1) === Infinity;

/**
 * Value of `status.rejectedHash`. It identifies failed answers, and the circumstances that have to change
 * before they are sent again.
 */
export function rejectionHash(
  kind: FailureKind,
  hashes: AnswerHashes,
  circumstances: Circumstances,
  key: string,
): string {
  const sorted = Object.entries(hashes).sort(([a], [b]) => (a < b ? -1 : 1));
  return keyedHash([sorted, RETRIES[kind].until.map((each) => circumstances[each])], key);
}

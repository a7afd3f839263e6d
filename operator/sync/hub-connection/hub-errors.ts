import {
  FilesNotRead,
  HubBanned,
  type HubError,
  HubFailed,
  HubNotRunning,
  HubRejected,
  HubTooLarge,
  HubUnreachable,
  NotHomeAssistant,
  type RequestType,
  TokenRejected,
} from '../../client/connection/errors';
import type { ReadyReason } from '../../kinds/reasons';
import { API_NOT_LOADED_REQUEUE, DEPENDENCY_REQUEUE, POD_NOT_READY_REQUEUE } from '../../base/limits';
import { type Outcome, stalled, waiting } from '../../runtime/outcome';

/** The subject of the failed request: an object of a resource, or the state of the hub itself. */
export type HubRequest = 'object' | 'state';

interface Row {
  readonly error: abstract new (...args: never[]) => HubError;
  /**
   * Limits the row to one type of request about an object, or to requests about the state. If absent, the row
   * is for all requests.
   */
  readonly request?: RequestType | 'state';
  readonly reason: ReadyReason;
  /**
   * Milliseconds until the next attempt, which makes the outcome Waiting. `never`: the resource itself has to
   * change, so the outcome is Stalled.
   */
  readonly retryAfter: number | 'never';
  /** Text before the message of the hub. */
  readonly prefix?: string;
}

const REJECTED = 'The hub rejected it: ';

/** @param words the message of the hub */
export const rejectedMessage = (words: string): string => `${REJECTED}${words}`;

/**
 * One row per error class of the hub's client. The first matching row decides (rules.md, "Waiting is not an
 * error").
 */
const TABLE: readonly Row[] = [
  { error: TokenRejected, reason: 'TokenRejected', retryAfter: DEPENDENCY_REQUEUE },
  { error: HubBanned, reason: 'HubBanned', retryAfter: DEPENDENCY_REQUEUE },
  { error: HubUnreachable, reason: 'HubUnreachable', retryAfter: POD_NOT_READY_REQUEUE },
  { error: HubNotRunning, reason: 'HubNotReady', retryAfter: POD_NOT_READY_REQUEUE },
  { error: NotHomeAssistant, reason: 'HubUnreachable', retryAfter: POD_NOT_READY_REQUEUE },
  // A failed read says nothing about the object: a part of the hub's API is not loaded, or a proxy refuses
  // the request.
  {
    error: HubRejected,
    request: 'read',
    reason: 'HubFailed',
    retryAfter: DEPENDENCY_REQUEUE,
    prefix: 'The hub does not show what it has: ',
  },
  { error: HubRejected, request: 'write', reason: 'RejectedByHub', retryAfter: 'never', prefix: REJECTED },
  // A starting hub rejects requests for components that it has not loaded yet.
  {
    error: HubRejected,
    request: 'state',
    reason: 'ApiNotLoaded',
    retryAfter: API_NOT_LOADED_REQUEUE,
    prefix: 'The hub does not serve its API yet: ',
  },
  { error: HubTooLarge, reason: 'HubFailed', retryAfter: DEPENDENCY_REQUEUE },
  { error: FilesNotRead, reason: 'FilesNotRead', retryAfter: DEPENDENCY_REQUEUE },
  { error: HubFailed, reason: 'HubFailed', retryAfter: DEPENDENCY_REQUEUE, prefix: 'The hub failed: ' },
];

/**
 * The outcome of a resource whose hub failed with `error`.
 *
 * @param details details of the outcome; `message` replaces the message of the table
 * @throws error itself when the table has no row for it; the reconcile is retried with backoff
 */
export function hubErrorOutcome(
  error: unknown,
  request: HubRequest,
  { message, ...details }: { message?: string } & Parameters<typeof stalled>[2] = {},
): Outcome {
  const type = request === 'object' && error instanceof HubRejected ? error.requestType : request;
  const row = TABLE.find((each) => error instanceof each.error && (each.request ?? type) === type);
  if (!row) throw error;
  const words = message ?? `${row.prefix ?? ''}${(error as HubError).message}`;
  const requestPending = row.reason === 'HubUnreachable' || row.reason === 'HubNotReady';
  return row.retryAfter === 'never'
    ? stalled(row.reason, words, details)
    : waiting(row.reason, words, row.retryAfter, { requestPending, ...details });
}

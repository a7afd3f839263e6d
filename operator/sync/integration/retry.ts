import type { Clock } from '../../clock';
import { REJECTED_WRITE_RETRY_INTERVAL } from '../../limits';
import type { FlowProblem } from './flow/navigator';
import type { Failure } from './hub-context';

/** Keys of errors that pass without a change here: the device or service did not answer. */
const CONNECTION =
  /connect|time_?d?_?out|unreachable|unavailable|offline|no_response|host_down|in_progress|^unknown$/;
/** Credentials that were rejected are not sent again: the account may be locked for that. */
const CREDENTIALS = /auth|password|credential|token|api_key|access_denied|forbidden|pin\b/;

const FIRST_RETRY = 10_000;

/** What is remembered of a failed flow: when the same answers are sent again. */
export function failureAfter(
  { previous, configHash }: { readonly previous: Failure | undefined; readonly configHash: string },
  { key = '' }: Pick<FlowProblem, 'key'>,
  message: string,
  clock: Clock,
): Failure {
  const count = previous?.configHash === configHash ? previous.count + 1 : 1;
  const isAuth = CREDENTIALS.test(key);
  const isConnection = CONNECTION.test(key);
  const delay = isAuth
    ? Infinity
    : isConnection
      ? Math.min(FIRST_RETRY * 2 ** (count - 1), REJECTED_WRITE_RETRY_INTERVAL)
      : REJECTED_WRITE_RETRY_INTERVAL;
  return { configHash, message, retryAt: clock.monotonic() + delay, count, isAuth };
}

import { shownMessage } from '../base/errors';
import { DEPENDENCY_REQUEUE, TRANSIENT_FAILURE_REPORT } from '../base/limits';
import type { ReadyReason } from '../kinds/reasons';
import { isForbidden, isTransient, isWebhookFailure } from './api-errors';
import { type Waiting, waiting } from './outcome';

/** The reason and the message of the condition that reports an error. */
export function failureOf(error: Error): { readonly reason: ReadyReason; readonly message: string } {
  const { message } = error;
  if (isTransient(error)) {
    const duration = `${TRANSIENT_FAILURE_REPORT / 1_000} s`;
    return {
      reason: 'ApiServerError',
      message: `The API server has failed for more than ${duration}: ${message}`,
    };
  }
  if (isWebhookFailure(error)) return { reason: 'ApiServerError', message };
  if (isForbidden(error)) return { reason: 'Forbidden', message };
  return { reason: 'InternalError', message: shownMessage(error) };
}

/** @param lost the data that would be deleted with the resource, in words */
export function waitsForRemoval(lost: string, finalizer: string, error: Error): Waiting {
  const { reason, message } = failureOf(error);
  const words =
    `The deletion waits and is tried again, because ${lost} would be deleted with it. ` +
    `To delete it now with all of that, remove its finalizer ${finalizer}. It failed with: ${message}`;
  return waiting(reason, words, DEPENDENCY_REQUEUE);
}

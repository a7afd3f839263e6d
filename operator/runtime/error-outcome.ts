import { DEPENDENCY_REQUEUE, NAME_CONFLICT_RETRY } from '../base/limits';
import { isForbidden, isNamespaceTerminating } from './api-errors';
import { NameConflict, ObjectRejected } from './apply-errors';
import { SecretRefused } from './named-secret';
import { type Outcome, stalled, waiting } from './outcome';

/**
 * The outcome for an error of the API server that is about the resource's objects. @returns undefined for any
 * other error
 */
export function errorOutcome(error: unknown): Outcome | undefined {
  if (isNamespaceTerminating(error))
    return waiting('NamespaceTerminating', error.message, NAME_CONFLICT_RETRY);
  if (error instanceof NameConflict)
    return error.transient
      ? waiting('NameConflict', error.message, error.retryAfter)
      : stalled('NameConflict', error.message, { after: error.retryAfter });
  // Roles, quotas and policies are not watched, so a retry is necessary.
  if (isForbidden(error) || (error instanceof ObjectRejected && error.forbidden))
    return stalled('Forbidden', error.message, { after: DEPENDENCY_REQUEUE });
  if (error instanceof ObjectRejected) return stalled('InvalidSpec', error.message);
  // No retry is necessary: a change of the Secret's label or type enqueues the resource.
  if (error instanceof SecretRefused) return stalled('SecretRefused', error.message);
  return undefined;
}

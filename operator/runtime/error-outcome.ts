import { DEPENDENCY_REQUEUE, NAME_CONFLICT_RETRY } from '../limits';
import { isNamespaceTerminating } from './api-client';
import { NameConflict, ObjectRejected } from './apply-errors';
import { type Outcome, stalled, waiting } from './outcome';

/** The outcome for an error of the API server that says something about the resource; undefined: it does not. */
export function errorOutcome(error: unknown): Outcome | undefined {
  if (isNamespaceTerminating(error))
    return waiting('NamespaceTerminating', error.message, NAME_CONFLICT_RETRY);
  if (error instanceof NameConflict)
    return error.transient
      ? waiting('NameConflict', error.message, NAME_CONFLICT_RETRY)
      : // Not every kind of object is watched for those of others.
        stalled('NameConflict', error.message, { after: NAME_CONFLICT_RETRY });
  if (error instanceof ObjectRejected)
    return error.forbidden
      ? // A quota or a policy may change, and no watch shows it.
        stalled('InvalidSpec', error.message, { after: DEPENDENCY_REQUEUE })
      : stalled('InvalidSpec', error.message);
  return undefined;
}

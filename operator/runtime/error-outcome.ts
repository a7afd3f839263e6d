import { DEPENDENCY_REQUEUE } from '../limits';
import { isNamespaceTerminating } from './api-client';
import { NameConflict, ObjectRejected } from './apply';
import { type Outcome, stalled, waiting } from './outcome';

/** What is being deleted is gone soon. */
const TERMINATING_REQUEUE = 5_000;

/** The outcome for an error of the API server that says something about the resource; undefined: it does not. */
export function errorOutcome(error: unknown): Outcome | undefined {
  if (isNamespaceTerminating(error))
    return waiting('NamespaceTerminating', error.message, TERMINATING_REQUEUE);
  if (error instanceof NameConflict)
    return error.transient
      ? waiting('NameConflict', error.message, TERMINATING_REQUEUE)
      : stalled('NameConflict', error.message);
  if (error instanceof ObjectRejected)
    return error.forbidden
      ? // A quota or a policy may change, and no watch shows it.
        stalled('InvalidSpec', error.message, { after: DEPENDENCY_REQUEUE })
      : stalled('InvalidSpec', error.message);
  return undefined;
}

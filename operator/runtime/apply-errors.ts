import { DEPENDENCY_REQUEUE, NAME_CONFLICT_RETRY } from '../base/limits';
import { OperationalError } from '../base/errors';
import { ApiError } from './api-errors';

/** An object with the desired name belongs to another owner. Such an object is never overwritten. */
export class NameConflict extends OperationalError {
  override readonly name = 'NameConflict';
  constructor(
    message: string,
    /**
     * True if the object is being deleted, or if its owner is gone, so that the garbage collector deletes it.
     */
    readonly transient: boolean,
  ) {
    super(message);
  }

  /**
   * Milliseconds until the next attempt: not every kind of object is watched, so its deletion may not cause
   * an event.
   */
  get retryAfter(): number {
    return this.transient ? NAME_CONFLICT_RETRY : DEPENDENCY_REQUEUE;
  }
}

/** The API server rejected the desired object. The message is the API server's. */
export class ObjectRejected extends OperationalError {
  override readonly name = 'ObjectRejected';

  /**
   * @param forbidden true if a quota, a policy or a missing permission is the cause, which may change while
   * the object does not
   */
  constructor(
    message: string,
    options?: ErrorOptions,
    readonly forbidden = false,
  ) {
    super(message, options);
  }
}

/**
 * Converts an error of a write to a rejection. @returns undefined for an error that is independent of the
 * object
 */
export function rejectionOf(error: unknown): ObjectRejected | undefined {
  if (!(error instanceof ApiError) || error.causes.includes('NamespaceTerminating')) return undefined;
  const { message, status } = error;
  // The API server answers with 500 if a field is not in the schema.
  const isInvalid =
    status === 400 || status === 422 || message.startsWith('failed to create typed patch object');
  if (!isInvalid && status !== 403) return undefined;
  return new ObjectRejected(message, { cause: error }, status === 403);
}

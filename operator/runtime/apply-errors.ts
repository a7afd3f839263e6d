import { OperationalError } from '../errors';
import { ApiError } from './api-client';

/** An object that exists under the desired name and belongs to something else; it is never overwritten. */
export class NameConflict extends OperationalError {
  override readonly name = 'NameConflict';
  constructor(
    message: string,
    /** The object is being deleted, or its owner is gone: it disappears by itself. */
    readonly transient: boolean,
  ) {
    super(message);
  }
}

/** The API server does not accept the desired object; the message is the server's. */
export class ObjectRejected extends OperationalError {
  override readonly name = 'ObjectRejected';

  /** @param forbidden by a quota, a policy or a missing permission, which may change while the object does not */
  constructor(
    message: string,
    options?: ErrorOptions,
    readonly forbidden = false,
  ) {
    super(message, options);
  }
}

/** The rejection that an answer to a write stands for; undefined for an error that says nothing about the object. */
export function rejectionOf(error: unknown): ObjectRejected | undefined {
  if (!(error instanceof ApiError) || error.causes.includes('NamespaceTerminating')) return undefined;
  const { message, status } = error;
  // The API server answers a field that the schema does not know with a 500, as if it were at fault itself.
  const isInvalid =
    status === 400 || status === 422 || message.startsWith('failed to create typed patch object');
  if (!isInvalid && status !== 403) return undefined;
  return new ObjectRejected(message, { cause: error }, status === 403);
}

import { OperationalError } from '../base/errors';

/**
 * The API server answered with an error: its HTTP status, and the reason and message of its `metav1.Status`.
 */
export class ApiError extends OperationalError {
  override readonly name = 'ApiError';
  constructor(
    readonly status: number,
    readonly reason: string,
    message: string,
    /** `Retry-After` of the response, in milliseconds. */
    readonly retryAfter?: number,
    /** Reasons of the causes in `details.causes`. */
    readonly causes: readonly string[] = [],
  ) {
    super(message);
  }
}

/** The API server did not answer: connection refused, reset or timed out. */
export class ApiServerUnreachable extends OperationalError {
  override readonly name = 'ApiServerUnreachable';
}

/**
 * A response of the API server has more keys and values than the operator parses. A repeated request would
 * fail in the same way.
 */
export class AnswerTooLarge extends OperationalError {
  override readonly name = 'AnswerTooLarge';
}

export const isNotFound = (error: unknown): boolean => error instanceof ApiError && error.status === 404;
export const isConflict = (error: unknown): boolean => error instanceof ApiError && error.status === 409;
/** The resource version of the watch is too old (410 Gone): a new list is necessary. */
export const isGone = (error: unknown): boolean => error instanceof ApiError && error.status === 410;

/** The namespace is being deleted: no object can be created in it. */
export const isNamespaceTerminating = (error: unknown): error is ApiError =>
  error instanceof ApiError && error.causes.includes('NamespaceTerminating');

/**
 * An admission webhook did not answer. Other objects, for which the webhook is not registered, are not
 * affected.
 */
export const isWebhookFailure = (error: unknown): boolean =>
  error instanceof ApiError && error.status === 500 && error.message.includes('failed calling webhook');

/** The API server refuses the request because of a role, a quota or a policy. */
export const isForbidden = (error: unknown): error is ApiError =>
  error instanceof ApiError && error.status === 403 && !isNamespaceTerminating(error);

/**
 * The API server is unavailable to all clients. It does not answer, or it answers with 5xx or 429, as it does
 * without etcd.
 */
export const isServerUnavailable = (error: unknown): boolean =>
  error instanceof ApiServerUnreachable ||
  (error instanceof ApiError && (error.status === 429 || error.status >= 500) && !isWebhookFailure(error));

/** The error is independent of the request: the same request can succeed later. */
export const isTransient = (error: unknown): boolean => isServerUnavailable(error) || isConflict(error);

/** Paths such as `.status.delivery` that a server-side apply has and the schema in the cluster has not, as that of an older version. */
export function undeclaredFields({ message }: ApiError): readonly string[] {
  if (!message.startsWith('failed to create typed patch object')) return [];
  return [...message.matchAll(/(\S+): field not declared in schema/g)].map(([, path = '']) => path);
}

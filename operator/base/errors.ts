/** Converts a thrown value, which may be of any type, to an `Error`. */
export function errorOf(thrown: unknown): Error {
  return thrown instanceof Error ? thrown : new Error(String(thrown));
}

/** The message of a thrown value of any type. */
export function messageOf(thrown: unknown): string {
  return errorOf(thrown).message;
}

/**
 * An error with a cause outside the program: the API server, a hub, the network, a resource, the end of this process.
 * Every other error is a bug of the operator.
 */
export abstract class OperationalError extends Error {}

/** The reason of a signal that was aborted because this process stops or is no longer the leader. */
export class Stopping extends OperationalError {
  override readonly name = 'Stopping';
}

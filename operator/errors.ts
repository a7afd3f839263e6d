/** Anything can be thrown; what handles it expects an `Error`. */
export function errorOf(thrown: unknown): Error {
  return thrown instanceof Error ? thrown : new Error(String(thrown));
}

/** The text of anything that was thrown. */
export function messageOf(thrown: unknown): string {
  return errorOf(thrown).message;
}

/**
 * An error with a cause outside of the program: the API server, a hub, the network, a resource that somebody wrote, the
 * end of this process. Every other error is a fault of the operator.
 */
export abstract class OperationalError extends Error {}

/** The reason of a signal that was aborted since this process stops, or is no longer the leader. */
export class Stopping extends OperationalError {
  override readonly name = 'Stopping';
}

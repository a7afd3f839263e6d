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

/** Shown to users instead of the error of a bug, whose text may quote anything that the operator has read. */
export const BUG_MESSAGE =
  'The operator failed for a reason that it does not know: read the error of this resource in the log of the operator, and report it.';

/**
 * The message of an error for a condition, an event or a terminal: the text of an expected error, {@link
 * BUG_MESSAGE} for any other.
 */
export function shownMessage(thrown: unknown): string {
  return thrown instanceof OperationalError ? thrown.message : BUG_MESSAGE;
}

/** The stack frames of an error, the innermost first, without its message. */
export function callsOf({ message, stack = '' }: Error): readonly string[] {
  const at = stack.indexOf(message);
  const calls = at < 0 ? stack : stack.slice(at + message.length);
  return calls.split('\n').filter((line) => /^ {4}at .+:\d+\)?$/.test(line));
}

/** The reason of a signal that was aborted because this process stops or is no longer the leader. */
export class Stopping extends OperationalError {
  override readonly name = 'Stopping';
}

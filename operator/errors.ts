/** Anything can be thrown; what handles it expects an `Error`. */
export function errorOf(thrown: unknown): Error {
  return thrown instanceof Error ? thrown : new Error(String(thrown));
}

/** The text of anything that was thrown. */
export function messageOf(thrown: unknown): string {
  return errorOf(thrown).message;
}

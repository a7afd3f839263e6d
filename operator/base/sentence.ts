const LOWER_CASE_START = /^(a|an|no|the|this) /;

/**
 * A message of a condition or an event with a capital at its start. It may be the text of an error, which has none; a
 * message that starts with a name, such as `spec.id` or a URL, stays as it is.
 */
export function sentence(message: string): string {
  return LOWER_CASE_START.test(message) ? message[0]!.toUpperCase() + message.slice(1) : message;
}

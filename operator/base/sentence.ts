const LOWER_CASE_START = /^(a|an|no|the|this) /;

/**
 * Capitalizes a message for a condition or an event, which may be the text of an error. A message that starts
 * with a name, such as `spec.id` or a URL, is unchanged.
 */
export function sentence(message: string): string {
  return LOWER_CASE_START.test(message) ? message[0]!.toUpperCase() + message.slice(1) : message;
}

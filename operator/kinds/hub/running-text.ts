/**
 * The message of the condition `Ready` of a running Hub. The state is the first sentence; notices follow.
 *
 * @param notices sentences about parts of the spec that are not set up
 */
export const runningText = (
  version: string,
  url: string,
  state: string,
  notices: readonly string[] = [],
): string => [`Home Assistant ${version} answers at ${url} (${state}).`, ...notices].join(' ');

/** The notices in a message of {@link runningText} as one text; undefined if there are none. */
export function noticesIn(message: string): string | undefined {
  const notices = /^Home Assistant \S+ answers at \S+ \([^)]*\)\. +(.+)$/s.exec(message)?.[1];
  return notices?.trim() || undefined;
}

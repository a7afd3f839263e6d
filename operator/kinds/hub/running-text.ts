/**
 * The message of `Ready` of a Hub that runs: its first sentence, then notices.
 *
 * @param notices sentences about parts of the spec that are not set up
 */
export const runningText = (
  version: string,
  url: string,
  state: string,
  notices: readonly string[] = [],
): string => [`Home Assistant ${version} answers at ${url} (${state}).`, ...notices].join(' ');

/** The notices in a message of {@link runningText}, in one text; undefined: there are none. */
export function noticesIn(message: string): string | undefined {
  const notices = /^Home Assistant \S+ answers at \S+ \([^)]*\)\. +(.+)$/s.exec(message)?.[1];
  return notices?.trim() || undefined;
}

/** The first sentence of `Ready` of a Hub that runs. Notices about parts that are not set up follow. */
export const runningText = (version: string, url: string, state: string): string =>
  `Home Assistant ${version} answers at ${url} (${state}).`;

/** The notices in the message of `Ready`; undefined: there are none. */
export function noticesIn(message: string): string | undefined {
  const notices = /^Home Assistant \S+ answers at \S+ \([^)]*\)\. +(.+)$/s.exec(message)?.[1];
  return notices?.trim() || undefined;
}

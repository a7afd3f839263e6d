import type { Logger } from '../../operator/base/log';

const ignore = (): void => undefined;

/**
 * A logger that drops everything: the client of a hub logs its retries, but a command prints only its result.
 */
export const silentLog: Logger = {
  debug: ignore,
  info: ignore,
  warn: ignore,
  error: ignore,
  child: () => silentLog,
};

import type { Logger } from '../../operator/base/log';

const ignore = (): void => undefined;

/** The client of a hub logs its retries; a command shows the result alone. */
export const silentLog: Logger = {
  debug: ignore,
  info: ignore,
  warn: ignore,
  error: ignore,
  child: () => silentLog,
};

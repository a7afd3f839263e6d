import type { Logger } from '../../operator/base/log';

/** For tests that do not look at the log. */
export const silentLog: Logger = {
  debug: () => undefined,
  info: () => undefined,
  warn: () => undefined,
  error: () => undefined,
  child: () => silentLog,
};

import type { Logger } from '../../operator/base/log';

/** A log that discards everything, for tests that do not read it. */
export const silentLog: Logger = {
  debug: () => undefined,
  info: () => undefined,
  warn: () => undefined,
  error: () => undefined,
  child: () => silentLog,
};

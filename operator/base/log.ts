import pino, { type DestinationStream, type LoggerOptions } from 'pino';
import { messageOf } from './errors';

/**
 * The logger of all modules: data in fields, then a constant message that names its object ("released finalizer").
 * Common keys: `kind`, `namespace`, `name`, `hub` (`<namespace>/<name>`), and `error`, which is always the Error
 * itself.
 */
export interface Logger {
  debug(fields: object, message: string): void;
  info(fields: object, message: string): void;
  warn(fields: object, message: string): void;
  error(fields: object, message: string): void;
  child(fields: Record<string, unknown>): Logger;
}

export const LOG_LEVELS = ['debug', 'info', 'warn', 'error'] as const;
export type LogLevel = (typeof LOG_LEVELS)[number];

/**
 * Standard output, written synchronously: a line is there before what follows it, and a process that is killed, for
 * example because it is out of memory, leaves its last lines. pino's own default writes later, in another thread.
 */
const standardOutput = (): DestinationStream => pino.destination({ dest: 1, sync: true });

/** One JSON object a line, with RFC 3339 times and level names, as log collectors expect. */
export function createLogger(level: LogLevel, destination = standardOutput()): Logger {
  const options: LoggerOptions = {
    level,
    base: null,
    timestamp: pino.stdTimeFunctions.isoTime,
    formatters: { level: (label) => ({ level: label }) },
    serializers: { error: (error: unknown) => serializeError(error) },
  };
  return pino(options, destination);
}

/** Longest chain of causes that is logged; a longer one is a cycle. */
const LONGEST_CHAIN = 5;

/**
 * The fields of an error, and those of its causes, that are logged. They are listed by name, because an error of an
 * HTTP library also contains its request, with the bearer token in the headers.
 */
function serializeError(thrown: unknown, depth = 1): unknown {
  if (!(thrown instanceof Error)) return messageOf(thrown);
  const { cause, code, message, name, reason, stack, status } = thrown as Error & Record<string, unknown>;
  return {
    name,
    message,
    ...(depth === 1 && { stack }),
    ...(isPlain(code) && { code }),
    ...(isPlain(status) && { status }),
    ...(isPlain(reason) && { reason }),
    ...(cause !== undefined && depth < LONGEST_CHAIN && { cause: serializeError(cause, depth + 1) }),
  };
}

const isPlain = (value: unknown): boolean => typeof value === 'string' || typeof value === 'number';

import pino, { type DestinationStream, type LoggerOptions } from 'pino';
import { callsOf, messageOf, OperationalError } from './errors';
import { truncate } from './truncate';

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
type LogLevel = (typeof LOG_LEVELS)[number];

/**
 * Standard output, written synchronously: log lines and other output keep their order, and a process that is
 * killed, for example because it is out of memory, does not lose its last lines. pino's own default writes
 * later, in another thread.
 */
const standardOutput = (): DestinationStream => pino.destination({ dest: 1, sync: true });

/** One JSON object a line, with RFC 3339 times and level names, as log collectors expect. */
export function createLogger(level: LogLevel, destination = standardOutput()): Logger {
  const options: LoggerOptions = {
    level,
    base: null,
    timestamp: pino.stdTimeFunctions.isoTime,
    formatters: { level: (label) => ({ level: label }), log: (fields) => bounded(fields) },
    hooks: {
      logMethod([fields, message], write) {
        write.call(this, fields, truncate(String(message), LONGEST_TEXT));
      },
    },
  };
  return pino(options, destination);
}

/**
 * Most characters of all values of a line, which may quote any input of the operator, for example in errors
 * of libraries. Keys and brackets are not counted.
 */
const LONGEST_LINE = 2_000;
const LONGEST_TEXT = 1_000;
/** Most characters of the message of a bug. */
const LONGEST_BUG = 400;
/** Most characters of the stack frames of an error. */
const LONGEST_CALLS = 800;
/** Longest chain of causes that is logged; a longer one is a cycle. Fields of fields are not nested deeper either. */
const LONGEST_CHAIN = 5;
/** Most entries of a list or an object that are logged. */
const MOST_ENTRIES = 40;

/** Shortens the fields of a line: all texts together have at most {@link LONGEST_LINE} characters. */
function bounded(fields: object): Record<string, unknown> {
  let left = LONGEST_LINE;
  const text = (value: string, longest = LONGEST_TEXT): string => {
    const shown = left > 0 ? truncate(value, Math.min(longest, left)) : '';
    left -= shown.length;
    return shown;
  };
  const entries = (object: object, depth: number) =>
    Object.fromEntries(
      Object.entries(object)
        .slice(0, MOST_ENTRIES)
        .map(([key, value]) => [truncate(key, 100), written(value, depth + 1)]),
    );
  const written = (value: unknown, depth: number): unknown => {
    if (typeof value === 'string') return text(value);
    if (value instanceof Error) return errorFields(value, depth);
    if (typeof value !== 'object' || value === null || value instanceof Date) return value;
    if (depth > LONGEST_CHAIN) return undefined;
    if (Array.isArray(value)) return value.slice(0, MOST_ENTRIES).map((item) => written(item, depth + 1));
    return entries(value, depth);
  };
  /**
   * The fields of an error and of its causes that are logged. An explicit list is necessary: an error of an
   * HTTP library also contains its request, with the bearer token in the headers.
   */
  const errorFields = (error: Error, depth: number): unknown => {
    const { cause, code, name, reason, status } = error as Error & Record<string, unknown>;
    const errors = error instanceof AggregateError ? (error.errors as readonly unknown[]) : undefined;
    return {
      name: text(name, 100),
      message: text(error.message, error instanceof OperationalError ? LONGEST_TEXT : LONGEST_BUG),
      ...(isPlain(code) && { code: written(code, depth) }),
      ...(isPlain(status) && { status: written(status, depth) }),
      ...(isPlain(reason) && { reason: written(reason, depth) }),
      ...(depth === 1 && { stack: text(callsOf(error).join('\n'), LONGEST_CALLS) }),
      ...(cause !== undefined && depth < LONGEST_CHAIN && { cause: thrown(cause, depth + 1) }),
      ...(errors &&
        depth < LONGEST_CHAIN && {
          errors: errors.slice(0, LONGEST_CHAIN).map((each) => thrown(each, depth + 1)),
        }),
    };
  };
  const thrown = (value: unknown, depth: number): unknown =>
    value instanceof Error ? errorFields(value, depth) : text(messageOf(value));
  const { error, ...others } = fields as Readonly<Record<string, unknown>>;
  return { ...entries(others, 0), ...(error !== undefined && { error: thrown(error, 1) }) };
}

const isPlain = (value: unknown): boolean => typeof value === 'string' || typeof value === 'number';

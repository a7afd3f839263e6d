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
    formatters: { level: (label) => ({ level: label }), log: (fields) => new BoundedLine().fields(fields) },
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

/** Shortens the fields of one line: all texts together have at most {@link LONGEST_LINE} characters. */
class BoundedLine {
  private left = LONGEST_LINE;

  fields(fields: object): Record<string, unknown> {
    const { error, ...others } = fields as Readonly<Record<string, unknown>>;
    return { ...this.entries(others, 0), ...(error !== undefined && { error: this.thrown(error, 1) }) };
  }

  private entries(object: object, depth: number): Record<string, unknown> {
    return Object.fromEntries(
      Object.entries(object)
        .slice(0, MOST_ENTRIES)
        .map(([key, value]) => [truncate(key, 100), this.written(value, depth + 1)]),
    );
  }

  private written(value: unknown, depth: number): unknown {
    if (typeof value === 'string') return this.text(value);
    if (value instanceof Error) return this.errorFields(value, depth);
    if (typeof value !== 'object' || value === null || value instanceof Date) return value;
    if (depth > LONGEST_CHAIN) return undefined;
    if (Array.isArray(value))
      return value.slice(0, MOST_ENTRIES).map((item) => this.written(item, depth + 1));
    return this.entries(value, depth);
  }

  private text(value: string, longest = LONGEST_TEXT): string {
    const shown = this.left > 0 ? truncate(value, Math.min(longest, this.left)) : '';
    this.left -= shown.length;
    return shown;
  }

  /**
   * The fields of an error and of its causes that are logged. An explicit list is necessary: an error of an
   * HTTP library also contains its request, with the bearer token in the headers.
   */
  private errorFields(error: Error, depth: number): unknown {
    const { cause, code, name, reason, status } = error as Error & Record<string, unknown>;
    const errors = error instanceof AggregateError ? (error.errors as readonly unknown[]) : undefined;
    return {
      name: this.text(name, 100),
      message: this.text(error.message, error instanceof OperationalError ? LONGEST_TEXT : LONGEST_BUG),
      ...(isPlain(code) && { code: this.written(code, depth) }),
      ...(isPlain(status) && { status: this.written(status, depth) }),
      ...(isPlain(reason) && { reason: this.written(reason, depth) }),
      ...(depth === 1 && { stack: this.text(callsOf(error).join('\n'), LONGEST_CALLS) }),
      ...(cause !== undefined && depth < LONGEST_CHAIN && { cause: this.thrown(cause, depth + 1) }),
      ...(errors &&
        depth < LONGEST_CHAIN && {
          errors: errors.slice(0, LONGEST_CHAIN).map((each) => this.thrown(each, depth + 1)),
        }),
    };
  }

  private thrown(value: unknown, depth: number): unknown {
    return value instanceof Error ? this.errorFields(value, depth) : this.text(messageOf(value));
  }
}

const isPlain = (value: unknown): boolean => typeof value === 'string' || typeof value === 'number';

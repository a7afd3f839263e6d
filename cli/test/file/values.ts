import type { Instant, Want } from '../protocol';
import { isObject } from '../../../operator/base/is-object';
import { patterns } from './patterns';

const SECONDS = { d: 86_400, h: 3_600, m: 60, s: 1, ms: 0.001 } as const;

/** The seconds of a duration in one of its forms; undefined if it has none of them. */
export function secondsOf(duration: string | number): number | undefined {
  if (typeof duration === 'number') return duration >= 0 ? duration : undefined;
  if (!new RegExp(patterns.duration).test(duration)) return undefined;
  if (duration.includes(':')) {
    const [hours, minutes, seconds] = duration.split(':').map(Number);
    return hours! * 3_600 + minutes! * 60 + seconds!;
  }
  if (/^[\d.]+$/.test(duration)) return Number(duration);
  const parts = [...duration.matchAll(/([\d.]+)(ms|[dhms])/g)];
  const sum = parts.reduce(
    (all, [, count, unit]) => all + Number(count) * SECONDS[unit as keyof typeof SECONDS],
    0,
  );
  return Math.round(sum * 1_000) / 1_000;
}

/**
 * A local time such as `2026-11-02T18:00:00`; undefined if the day does not exist.
 *
 * @param text a text that matches `patterns.dateTime`
 */
export function localTime(text: string): string | undefined {
  const [year, month, day, hour, minute, second = 0] = text.split(/\D/).map(Number);
  const at = new Date(Date.UTC(year!, month! - 1, day, hour, minute, second));
  const isReal = at.getUTCFullYear() === year && at.getUTCMonth() === month! - 1 && at.getUTCDate() === day;
  return isReal ? at.toISOString().slice(0, 19) : undefined;
}

const CLOCK_NAMES: Readonly<Record<string, string>> = { noon: '12:00:00', midnight: '00:00:00' };

/**
 * The moment that a text describes; undefined if the day does not exist.
 *
 * @param text a text that matches `patterns.moment`
 */
export function instantOf(text: string): Instant | undefined {
  const named = CLOCK_NAMES[text];
  if (named !== undefined) return { clock: named };
  const [, sun, sign, offset] = /^(sunset|sunrise|dawn|dusk)(?: *([+-]) *(.+))?$/.exec(text) ?? [];
  if (sun !== undefined) {
    const seconds = offset === undefined ? 0 : secondsOf(offset)! * (sign === '-' ? -1 : 1);
    return { sun: sun as 'sunset', offset: seconds };
  }
  if (text.includes('-')) {
    const local = localTime(text);
    return local === undefined ? undefined : { local };
  }
  const [hour, minute, second = '00'] = text.split(':');
  return { clock: `${hour!.padStart(2, '0')}:${minute}:${second}` };
}

/**
 * The expectation that a value expresses. Quoted values are strings, unquoted numbers are numbers, and `/…/`
 * is a regular expression.
 */
export function wantOf(value: unknown): Want {
  if (value === null || typeof value === 'boolean') return { exact: value };
  if (typeof value === 'number') return { number: value };
  if (typeof value === 'string') {
    const regex = regexIn(value);
    return regex === undefined ? { text: value } : { regex };
  }
  if (Array.isArray(value)) return { list: value.map(wantOf) };
  return { object: wantsOf(value as object) };
}

export const wantsOf = (values: object): Readonly<Record<string, Want>> =>
  Object.fromEntries(Object.entries(values).map(([name, value]) => [name, wantOf(value)]));

/** The regular expression in a text such as `/on|off/`; undefined for other texts. */
export function regexIn(text: string): string | undefined {
  return text.length >= 2 && text.startsWith('/') && text.endsWith('/') ? text.slice(1, -1) : undefined;
}

/** Syntax that only Python has, or that JavaScript writes in another way. */
const ONLY_IN_PYTHON = /\(\?P[<=>]|\(\?[aiLmsux]+[):-]|\(\?[#>]|\\[AZ]|[*+?}]\+|\(\?\(/;

/**
 * The problem of a regular expression, as a part of a sentence; undefined if none is known. Expressions with
 * syntax that only Python has are not checked here.
 */
export function regexProblem(regex: string): string | undefined {
  if (regex === '')
    return 'is an empty regular expression, which fits every text: write the text that is expected';
  if (ONLY_IN_PYTHON.test(regex)) return undefined;
  try {
    new RegExp(regex);
    return undefined;
  } catch {
    return 'is not a regular expression: check its brackets, and put \\ before a character that stands for itself';
  }
}

/** The paths of numbers below a value that would lose digits, or that JSON cannot represent. */
export function inexactNumbers(
  value: unknown,
  path: readonly (string | number)[],
): (readonly (string | number)[])[] {
  if (typeof value === 'number')
    return Number.isFinite(value) && !(Number.isInteger(value) && !Number.isSafeInteger(value)) ? [] : [path];
  if (Array.isArray(value)) return value.flatMap((each, index) => inexactNumbers(each, [...path, index]));
  if (!isObject(value)) return [];
  return Object.entries(value).flatMap(([key, each]) => inexactNumbers(each, [...path, key]));
}

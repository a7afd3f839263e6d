import { InvalidArgumentError } from 'commander';

const UNITS: Readonly<Record<string, number>> = { s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 };

/**
 * Milliseconds of a text such as `1h30m`; undefined if the text has another form.
 *
 * @param units letters of the permitted units
 */
export function durationOf(text: string, units: string): number | undefined {
  const parts = [...text.matchAll(new RegExp(`(\\d+)([${units}])`, 'g'))];
  if (parts.length === 0 || parts.map(([part]) => part).join('') !== text) return undefined;
  return parts.reduce((sum, [, count, unit]) => sum + Number(count) * UNITS[unit!]!, 0);
}

/** Milliseconds of a duration in kubectl's form: `90s`, `5m` or `1h30m`. */
export function parseDuration(text: string): number {
  const duration = durationOf(text, 'smh');
  if (duration === undefined) throw new InvalidArgumentError('Write it like 90s, 5m or 1h30m.');
  return duration;
}

/** A parser for whole numbers that are not less than `least`. */
export function countFrom(least: number): (text: string) => number {
  return (text) => {
    const count = Number(text);
    if (!/^\d{1,9}$/.test(text) || count < least)
      throw new InvalidArgumentError(`Write a whole number from ${least} on.`);
    return count;
  };
}

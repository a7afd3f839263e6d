import { InvalidArgumentError } from 'commander';

const UNITS: Readonly<Record<string, number>> = { d: 86_400_000, h: 3_600_000, m: 60_000, s: 1_000 };

/** Days. No recorder keeps so much unless it is told to. */
const MOST_DAYS = 366;

/** Milliseconds of `7d`, `24h` or `1d12h`. */
export function parsePeriod(text: string): number {
  const parts = [...text.matchAll(/(\d{1,6})([dhms])/g)];
  const period = parts.reduce((sum, [, count, unit]) => sum + Number(count) * UNITS[unit!]!, 0);
  if (parts.map(([part]) => part).join('') !== text || period === 0)
    throw new InvalidArgumentError('Write it like 7d, 24h or 1d12h.');
  if (period > MOST_DAYS * UNITS['d']!) throw new InvalidArgumentError(`Write ${MOST_DAYS}d at most.`);
  return period;
}

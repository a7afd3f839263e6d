import { InvalidArgumentError } from 'commander';
import { durationOf } from '../../duration';

/** Longest period in days. Recorders keep less unless they are configured otherwise. */
const MOST_DAYS = 366;
const DAY = 86_400_000;
/** A number with this many digits is a typing mistake. */
const LONG_NUMBER = /\d{7}/;

/** Converts `7d`, `24h` or `1d12h` to milliseconds. */
export function parsePeriod(text: string): number {
  const period = LONG_NUMBER.test(text) ? undefined : durationOf(text, 'dhms');
  if (!period) throw new InvalidArgumentError('Write it like 7d, 24h or 1d12h.');
  if (period > MOST_DAYS * DAY) throw new InvalidArgumentError(`Write ${MOST_DAYS}d at most.`);
  return period;
}

import { InvalidArgumentError } from 'commander';
import { durationOf } from '../../duration';

/** No recorder keeps so many days unless it is told to. */
const MOST_DAYS = 366;
const DAY = 86_400_000;
/** A number of more digits is a slip. */
const LONG_NUMBER = /\d{7}/;

/** Milliseconds of `7d`, `24h` or `1d12h`. */
export function parsePeriod(text: string): number {
  const period = LONG_NUMBER.test(text) ? undefined : durationOf(text, 'dhms');
  if (!period) throw new InvalidArgumentError('Write it like 7d, 24h or 1d12h.');
  if (period > MOST_DAYS * DAY) throw new InvalidArgumentError(`Write ${MOST_DAYS}d at most.`);
  return period;
}

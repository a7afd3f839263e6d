import { truncate } from '../truncate';

/** A top-level key in which what the hub has is not what is desired; undefined: the key is not there. */
export interface Difference {
  readonly field: string;
  readonly actual: unknown;
  readonly desired: unknown;
}

/**
 * In a line: `alias: hub has "Dim", resource says "Dim the light"`. Differences without a meaning, such as a default that
 * the hub leaves out, are named only if there are no others.
 *
 * @param redact applied before a value is cut: the head of a secret is a part of it, too
 */
export function formatDiff(found: readonly Difference[], redact: (text: string) => string): string {
  const meaningful = found.filter((difference) => !isDefaultOnly(difference));
  return (meaningful.length > 0 ? meaningful : found)
    .map(
      ({ field, actual, desired }) =>
        `${field}: hub has ${short(actual, redact)}, resource says ${short(desired, redact)}`,
    )
    .join('; ');
}

/** What the hub uses where a definition lacks the field. */
const DEFAULTS: Readonly<Record<string, unknown>> = { mode: 'single', max: 10, max_exceeded: 'warning' };

function isDefaultOnly({ field, actual, desired }: Difference): boolean {
  if (actual !== undefined && desired !== undefined) return false;
  const value = actual ?? desired;
  const isEmpty = typeof value === 'object' && value !== null && Object.keys(value).length === 0;
  return isEmpty || value === '' || (field in DEFAULTS && value === DEFAULTS[field]);
}

const LONGEST_VALUE = 60;

function short(value: unknown, redact: (text: string) => string): string {
  return value === undefined ? 'nothing' : truncate(redact(JSON.stringify(value)), LONGEST_VALUE);
}

import { truncate } from '../../base/truncate';

/** A top-level key whose value in the hub differs from the desired one; undefined: the key is absent. */
export interface FieldDiff {
  readonly field: string;
  readonly actual: unknown;
  readonly desired: unknown;
}

/**
 * Formats differences in a line: `alias: hub has "Dim", resource says "Dim the light"`. Differences without effect,
 * such as a default that the hub omits, are included only if there are no others.
 *
 * @param redact applied before a value is truncated: a truncated secret would not be recognised
 */
export function formatDiff(found: readonly FieldDiff[], redact: (text: string) => string): string {
  const meaningful = found.filter((difference) => !isDefaultOnly(difference));
  return (meaningful.length > 0 ? meaningful : found)
    .map(
      ({ field, actual, desired }) =>
        `${field}: hub has ${short(actual, redact)}, resource says ${short(desired, redact)}`,
    )
    .join('; ');
}

/** The defaults of the hub for absent fields. */
const DEFAULTS: Readonly<Record<string, unknown>> = { mode: 'single', max: 10, max_exceeded: 'warning' };

function isDefaultOnly({ field, actual, desired }: FieldDiff): boolean {
  if (actual !== undefined && desired !== undefined) return false;
  const value = actual ?? desired;
  const isEmpty = typeof value === 'object' && value !== null && Object.keys(value).length === 0;
  return isEmpty || value === '' || (Object.hasOwn(DEFAULTS, field) && value === DEFAULTS[field]);
}

const LONGEST_VALUE = 60;

function short(value: unknown, redact: (text: string) => string): string {
  return value === undefined ? 'nothing' : truncate(redact(JSON.stringify(value)), LONGEST_VALUE);
}

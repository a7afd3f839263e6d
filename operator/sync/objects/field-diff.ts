import { truncate } from '../../base/truncate';

/**
 * A top-level key whose value in the hub differs from the desired one. A value is undefined if the key is
 * absent.
 */
export interface FieldDiff {
  readonly field: string;
  readonly actual: unknown;
  readonly desired: unknown;
}

/**
 * Formats differences in a line: `alias: hub has "Dim", resource says "Dim the light"`.
 *
 * @param redact applied before a value is truncated: a truncated secret would not be recognised
 */
export function formatDiff(found: readonly FieldDiff[], redact: (text: string) => string): string {
  return found
    .map(
      ({ field, actual, desired }) =>
        `${field}: hub has ${short(actual, redact)}, resource says ${short(desired, redact)}`,
    )
    .join('; ');
}

const LONGEST_VALUE = 60;

function short(value: unknown, redact: (text: string) => string): string {
  return value === undefined ? 'nothing' : truncate(redact(JSON.stringify(value)), LONGEST_VALUE);
}

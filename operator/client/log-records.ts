import type { HubConnection } from './connection';
import { HubRejected } from './errors';

/** Records of the hub's log that were written at one place of its code. */
export interface LogRecord {
  /** The logger. */
  readonly name: string;
  readonly level: string;
  /** Up to five different texts, in the order of their first occurrence. */
  readonly message: readonly string[];
  /** File and line of the code. */
  readonly source: readonly [string, number];
  /** How often one of the texts was logged. */
  readonly count: number;
  /** Seconds since 1970. */
  readonly first_occurred: number;
}

/** Empty: the hub has logged nothing, or does not keep its log. */
export async function readLog({ connection }: { readonly connection: HubConnection }) {
  try {
    return await connection.command('system_log/list');
  } catch (error) {
    if (error instanceof HubRejected) return [];
    throw error;
  }
}

/**
 * The texts that were logged between two reads, oldest record first. The hub counts equal texts together: where a count rose
 * and no text is new, each text of that record may have been logged again.
 */
export function loggedBetween(
  before: readonly LogRecord[],
  after: readonly LogRecord[],
): { readonly record: LogRecord; readonly texts: readonly string[] }[] {
  const known = new Map(before.map((record) => [keyOf(record), record]));
  return [...after].reverse().flatMap((record) => {
    const former = known.get(keyOf(record));
    if (former?.count === record.count) return [];
    const fresh = record.message.filter((text) => !former?.message.includes(text));
    return [{ record, texts: fresh.length > 0 ? fresh : record.message }];
  });
}

/** A record that was dropped from the list and written again has another first occurrence. */
const keyOf = ({ name, source, first_occurred }: LogRecord): string =>
  JSON.stringify([name, source, first_occurred]);

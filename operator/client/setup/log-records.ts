import { undefinedIf } from '../../base/undefined-if';
import type { LogRecord } from '../connection/api-types';
import type { HubConnection } from '../connection/connection';
import { isRejected } from '../connection/errors';

/** @returns undefined if the hub does not keep its log, or does not show it */
export const findLog = ({ connection }: { readonly connection: HubConnection }) =>
  undefinedIf(isRejected, connection.command('system_log/list'));

/** @returns an empty list if the hub has logged nothing, or {@link findLog} returns undefined */
export const readLog = async (client: Parameters<typeof findLog>[0]): Promise<readonly LogRecord[]> =>
  (await findLog(client)) ?? [];

/**
 * The texts that were logged between two reads, the oldest record first. The hub counts equal texts together.
 * If a count has increased without a new text, each text of that record may have been logged again.
 */
export function loggedBetween(
  before: readonly LogRecord[],
  after: readonly LogRecord[],
): { readonly record: LogRecord; readonly texts: readonly string[] }[] {
  const known = new Map(before.map((record) => [recordKey(record), record]));
  return [...after].reverse().flatMap((record) => {
    const former = known.get(recordKey(record));
    if (former?.count === record.count) return [];
    const fresh = record.message.filter((text) => !former?.message.includes(text));
    return [{ record, texts: fresh.length > 0 ? fresh : record.message }];
  });
}

/**
 * Key of a record. A record that was dropped from the list and written again has another first occurrence.
 */
const recordKey = ({ name, source, first_occurred }: LogRecord): string =>
  JSON.stringify([name, source, first_occurred]);

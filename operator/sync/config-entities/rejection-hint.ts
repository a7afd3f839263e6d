import type { EntityPayload } from '../../client/connection/config-entity';
import { HubRejected } from '../../client/connection/errors';
import { unquotedTextMessage, unquotedTexts } from '../../kinds/unquoted-text';

/** The hub's message that it expects a string: `expected str at 'triggers[0].to'`. */
const STRING_EXPECTED = /expected (?:str|a string|string)\b.*?(?:at|@) '?([^'\s]+)/i;

/**
 * Adds a hint to an error about a missing string. The most frequent mistake is an unquoted `to: on`, which
 * YAML reads as a boolean.
 */
export function withHint(error: HubRejected, payload: EntityPayload): HubRejected {
  const path = STRING_EXPECTED.exec(error.message)?.[1];
  const key = path?.match(/[A-Za-z_]\w*(?=\W*$)/)?.[0];
  if (key === undefined) return error;
  const unquoted = unquotedTexts(payload, '').find(({ path }) => path.endsWith(`.${key}`));
  if (unquoted) return withSentence(error, unquotedTextMessage(unquoted));
  if (!hasBoolean(payload, key)) return error;
  return withSentence(error, `Quote on, off, yes and no in "${key}": YAML reads them as booleans.`);
}

const withSentence = (error: HubRejected, sentence: string): HubRejected =>
  new HubRejected(error.code, `${error.message}. ${sentence}`, error.requestType);

function hasBoolean(value: unknown, key: string): boolean {
  if (typeof value !== 'object' || value === null) return false;
  return Object.entries(value).some(([name, entry]) => {
    const isHere = name === key && [entry].flat().some((each) => typeof each === 'boolean');
    return isHere || hasBoolean(entry, key);
  });
}

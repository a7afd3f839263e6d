import type { EntityPayload } from '../../client/config-entity';
import { HubRejected } from '../../client/errors';

/** `expected str at 'triggers[0].to'`: the hub wants a string there. */
const STRING_EXPECTED = /expected (?:str|a string|string)\b.*?(?:at|@) '?([^'\s]+)/i;

/** The commonest mistake: YAML reads an unquoted `to: on` as a boolean, and the hub wants a string. */
export function withHint(error: HubRejected, payload: EntityPayload): HubRejected {
  const path = STRING_EXPECTED.exec(error.message)?.[1];
  const key = path?.match(/[A-Za-z_]\w*(?=\W*$)/)?.[0];
  if (key === undefined || !hasBoolean(payload, key)) return error;
  const hint = `Quote on, off, yes and no in "${key}": YAML reads them as booleans.`;
  return new HubRejected(error.code, `${error.message}. ${hint}`, error.requestType);
}

function hasBoolean(value: unknown, key: string): boolean {
  if (typeof value !== 'object' || value === null) return false;
  return Object.entries(value).some(([name, entry]) => {
    const isHere = name === key && [entry].flat().some((each) => typeof each === 'boolean');
    return isHere || hasBoolean(entry, key);
  });
}

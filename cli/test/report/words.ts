import { oneLine } from '../../output';
import { truncate } from '../../../operator/base/truncate';
import { isObject } from '../../../operator/base/is-object';

/** Most characters of a call's data in a line. */
const LONGEST = 160;

/** Data in YAML on one line, as a user would write it: `{brightness: 128, effect: slow}`. */
export const dataOf = (data: unknown, longest = LONGEST): string => truncate(oneLine(flow(data)), longest);

function flow(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(flow).join(', ')}]`;
  if (isObject(value))
    return `{${Object.entries(value)
      .map(([key, each]) => `${key}: ${flow(each)}`)
      .join(', ')}}`;
  if (typeof value !== 'string') return JSON.stringify(value) ?? 'null';
  return isPlain(value) ? value : JSON.stringify(value);
}

/** Whether a text has the same meaning without quotes. */
const isPlain = (text: string): boolean =>
  /^[\p{L}_/][\p{L}\p{N} _./:%°+-]*$/u.test(text) &&
  !/^(true|false|null)$/i.test(text) &&
  !/: |:$| $/.test(text);

interface SomeCall {
  readonly action: string;
  readonly entities: readonly string[];
  readonly data: object;
  readonly by?: string | null;
}

/** A call in one line: `light.turn_on light.hall {brightness: 128}`. */
export function callOf({ action, entities, data }: SomeCall): string {
  const fields = Object.fromEntries(Object.entries(data).filter(([name]) => name !== 'entity_id'));
  return [
    oneLine(action),
    ...(entities.length > 0 ? [oneLine(entities.join(', '))] : []),
    ...(Object.keys(fields).length > 0 ? [dataOf(fields)] : []),
  ].join(' ');
}

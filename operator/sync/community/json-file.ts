import { messageOf } from '../../base/errors';
import { isObject } from '../../base/is-object';
import { shown } from './archive';
import { RepositoryRefused } from './errors';

/** Bytes of a file that is parsed: objects take many times its size in memory. */
export const LARGEST_JSON = 256 * 1024;

/** @throws RepositoryRefused it is no JSON object, or too large */
export function parseObject(content: Buffer, path: string): Readonly<Record<string, unknown>> {
  assertSize(path, content.length, LARGEST_JSON);
  try {
    const json: unknown = JSON.parse(content.toString());
    if (isObject(json)) return json;
  } catch (error) {
    throw new RepositoryRefused(`The file ${shown(path)} is not valid JSON: ${messageOf(error)}.`);
  }
  throw new RepositoryRefused(`The file ${shown(path)} is not a JSON object.`);
}

/** @throws RepositoryRefused */
export function assertSize(path: string, size: number, limit: number): void {
  if (size > limit)
    throw new RepositoryRefused(
      `The file ${shown(path)} has ${Math.ceil(size / 1024)} KiB, and at most ${limit / 1024} KiB are accepted.`,
    );
}

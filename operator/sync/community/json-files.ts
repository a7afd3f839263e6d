import { messageOf } from '../../base/errors';
import { isObject } from '../../base/is-object';
import { type Archive, shown } from './archive';
import { RepositoryRefused } from './errors';

/** Limit for the bytes of a file that is parsed, since parsed objects take many times its size in memory. */
const LARGEST_JSON = 256 * 1024;

/** @throws RepositoryRefused the content is not a JSON object, or is too large */
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

/** The fields of `hacs.json` that say where a repository has its files. */
export interface Hints {
  readonly contentInRoot: boolean;
  readonly filename: string | undefined;
  readonly zipRelease: boolean;
}

/** @throws RepositoryRefused */
export async function readHints(archive: Archive): Promise<Hints> {
  const entry = archive.entries.find(({ path, type }) => path === 'hacs.json' && type === 'file');
  if (entry) assertSize('hacs.json', entry.size, LARGEST_JSON);
  const json = entry ? parseObject(await archive.read(entry), 'hacs.json') : {};
  const { filename, content_in_root: contentInRoot, zip_release: zipRelease } = json;
  const isFileName = typeof filename === 'string' && /^[A-Za-z0-9_][A-Za-z0-9_.-]*$/.test(filename);
  if (filename !== undefined && !isFileName)
    throw new RepositoryRefused('In hacs.json, "filename" is not the name of a file.');
  return { contentInRoot: contentInRoot === true, filename, zipRelease: zipRelease === true };
}

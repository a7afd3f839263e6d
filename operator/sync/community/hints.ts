import type { Archive } from './archive';
import { assertSize, LARGEST_JSON, parseObject } from './json-file';
import { RepositoryRefused } from './errors';

/** The fields of `hacs.json` that say where a repository keeps its files. */
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
  const filename = json['filename'];
  if (
    filename !== undefined &&
    (typeof filename !== 'string' || !/^[A-Za-z0-9_][A-Za-z0-9_.-]*$/.test(filename))
  )
    throw new RepositoryRefused('In hacs.json, "filename" is not the name of a file.');
  return {
    contentInRoot: json['content_in_root'] === true,
    filename,
    zipRelease: json['zip_release'] === true,
  };
}

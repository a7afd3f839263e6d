import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { version } from '../package.json';
import { type ImageDescription, readDockerfile } from './dockerfile';

/**
 * What the Dockerfile says about the image of this version.
 *
 * @param source a folder with the sources of the operator
 */
export async function describeImage(source = join(__dirname, '..')): Promise<ImageDescription> {
  const dockerfile = await readFile(join(source, 'Dockerfile'), 'utf8');
  return readDockerfile(dockerfile, { VERSION: version });
}

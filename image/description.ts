import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { version } from '../package.json';
import { type ImageDescription, readDockerfile } from './dockerfile';

/** What the Dockerfile says about the image of this version. */
export async function describeImage(): Promise<ImageDescription> {
  const dockerfile = await readFile(join(__dirname, '..', 'Dockerfile'), 'utf8');
  return readDockerfile(dockerfile, { VERSION: version });
}

import { createHash } from 'node:crypto';
import type { Files } from './config-files';

/** Hash of the names and texts of files, as `sha256:<hex>`. */
export function configHash(files: Files): string {
  const hash = createHash('sha256');
  for (const name of Object.keys(files).sort()) hash.update(`${name}\0${files[name]}\0`);
  return `sha256:${hash.digest('hex')}`;
}

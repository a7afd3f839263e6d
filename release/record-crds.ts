import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { parseAllDocuments, stringify } from 'yaml';

/**
 * The CRDs of the last release, relative to the folder of the sources. A test compares the current CRDs with
 * them.
 */
export const RELEASED = join('manifests', 'released', 'crds.yaml');

/** Removes descriptions, on which the validity of objects does not depend. */
function withoutDescriptions(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutDescriptions);
  if (typeof value !== 'object' || value === null) return value;
  const entries = Object.entries(value).filter(
    // A description is a text. The value of a field named `description` is an object.
    ([key, child]) => key !== 'description' || typeof child !== 'string',
  );
  return Object.fromEntries(entries.map(([key, child]) => [key, withoutDescriptions(child)]));
}

/** Records the CRDs of `dist/`. Later versions must accept every object that is valid under these CRDs. */
export async function recordCrds(source: string): Promise<void> {
  const text = await readFile(join(source, 'dist', 'crds.yaml'), 'utf8');
  const definitions = parseAllDocuments(text).map((document) => withoutDescriptions(document.toJS()));
  const options = { lineWidth: 0, aliasDuplicateObjects: false };
  await writeFile(
    join(source, RELEASED),
    definitions.map((definition) => stringify(definition, options)).join('---\n'),
  );
}

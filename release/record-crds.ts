import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { parseAllDocuments, stringify } from 'yaml';

/** The CRDs of the last release, below the folder of the sources. A test compares those of today with them. */
export const RELEASED = join('manifests', 'released', 'crds.yaml');

/** Without descriptions, which no object depends on. */
function withoutDescriptions(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutDescriptions);
  if (typeof value !== 'object' || value === null) return value;
  const entries = Object.entries(value).filter(
    // A field of that name is an object, its description is text.
    ([key, child]) => key !== 'description' || typeof child !== 'string',
  );
  return Object.fromEntries(entries.map(([key, child]) => [key, withoutDescriptions(child)]));
}

/** Records the CRDs of `dist/`. A later version must accept every object that is valid under them. */
export async function recordCrds(source: string): Promise<void> {
  const text = await readFile(join(source, 'dist', 'crds.yaml'), 'utf8');
  const definitions = parseAllDocuments(text).map((document) => withoutDescriptions(document.toJS()));
  const options = { lineWidth: 0, aliasDuplicateObjects: false };
  await writeFile(
    join(source, RELEASED),
    definitions.map((definition) => stringify(definition, options)).join('---\n'),
  );
}

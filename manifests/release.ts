import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { parseAllDocuments, stringify } from 'yaml';

/**
 * `make release`: records the CRDs of this version. A later version must accept every object that is valid under them:
 * a test compares the CRDs with this file.
 */
export const RELEASED = join(__dirname, 'released', 'crds.yaml');

/** Without descriptions, which no object depends on. */
export function withoutDescriptions(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutDescriptions);
  if (typeof value !== 'object' || value === null) return value;
  const entries = Object.entries(value).filter(
    // A field of that name is an object, its description is text.
    ([key, child]) => key !== 'description' || typeof child !== 'string',
  );
  return Object.fromEntries(entries.map(([key, child]) => [key, withoutDescriptions(child)]));
}

async function main(): Promise<void> {
  const text = await readFile(join(__dirname, '..', 'dist', 'crds.yaml'), 'utf8');
  const definitions = parseAllDocuments(text).map((document) => withoutDescriptions(document.toJS()));
  const options = { lineWidth: 0, aliasDuplicateObjects: false };
  await writeFile(RELEASED, definitions.map((definition) => stringify(definition, options)).join('---\n'));
  console.log(`Wrote ${RELEASED}.`);
}

if (require.main === module) void main();

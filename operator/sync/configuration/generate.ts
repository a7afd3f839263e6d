import { createHash } from 'node:crypto';
import { isMap, isScalar, parseDocument, type Scalar } from 'yaml';

/** Sections that the hub's config API writes, and the files that it writes them to (rules.md, "Generated configuration"). */
const INCLUDES = { automation: 'automations.yaml', scene: 'scenes.yaml', script: 'scripts.yaml' } as const;

export type Generated =
  /** `sections`: names of the user's top-level sections. */
  | { readonly type: 'configuration'; readonly text: string; readonly sections: readonly string[] }
  /** `message`: what is wrong, and where. */
  | { readonly type: 'invalid'; readonly message: string };

/**
 * The hub's `configuration.yaml`: the user's text, byte for byte, followed by the includes that it lacks. The hub's
 * config API writes to these files whatever the user's own sections include, so they are included beside them.
 */
export function generateConfiguration(text: string): Generated {
  const document = parseDocument(text, { customTags: hubTags, prettyErrors: true });
  const [error] = document.errors;
  if (error) return { type: 'invalid', message: `spec.configuration is not YAML: ${error.message}` };
  const { contents } = document;
  // A document of nothing but comments is empty.
  if (contents !== null && !isMap(contents) && !(isScalar(contents) && contents.value === null)) {
    return {
      type: 'invalid',
      message: 'spec.configuration must be a mapping of section names, such as `logger:`.',
    };
  }
  const sections = sectionsOf(contents);
  const lines = Object.entries(INCLUDES)
    .filter(([section, file]) => !includes(sections, section, file))
    .map(([section, file]) => `${freeKey(sections, section)}: !include ${file}\n`);
  const names = [...sections.keys()].map(String);
  if (lines.length === 0) return { type: 'configuration', text, sections: names };
  const separator = text === '' || text.endsWith('\n') ? '' : '\n';
  return { type: 'configuration', text: `${text}${separator}${lines.join('')}`, sections: names };
}

/** The values of the top-level keys. */
type Sections = ReadonlyMap<unknown, unknown>;

function sectionsOf(contents: unknown): Sections {
  if (!isMap(contents)) return new Map();
  return new Map(contents.items.map(({ key, value }) => [(key as Scalar).value, value]));
}

/** One of the user's own sections of that name, with a label or without, includes the file already. */
function includes(sections: Sections, section: string, file: string): boolean {
  return [...sections].some(([key, value]) => {
    if (key !== section && !String(key).startsWith(`${section} `)) return false;
    if (!isScalar(value) || value.tag !== '!include') return false;
    return String(value.value).replace(/^(\.\/|\/config\/)/, '') === file;
  });
}

/** The section itself or, beside the user's own one, a labelled section, which the hub merges with it. */
function freeKey(sections: Sections, section: string): string {
  if (!sections.has(section)) return section;
  const label = `${section} hub_operator`;
  let key = label;
  for (let count = 2; sections.has(key); count++) key = `${label}_${count}`;
  return key;
}

/** `sha256:<hex>` of all generated files. */
export function configHash(files: Readonly<Record<string, string>>): string {
  const hash = createHash('sha256');
  for (const name of Object.keys(files).sort()) hash.update(`${name}\0${files[name]}\0`);
  return `sha256:${hash.digest('hex')}`;
}

/** Tags of the hub. They are kept as they are: only the hub resolves them. */
const hubTags = [
  '!include',
  '!include_dir_list',
  '!include_dir_named',
  '!include_dir_merge_list',
  '!include_dir_merge_named',
  '!secret',
  '!env_var',
  '!input',
].map((tag) => ({ tag, resolve: (value: string) => value }));

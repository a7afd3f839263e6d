import { isScalar, type Node } from 'yaml';
import { CONFIG_ENTITY_KINDS } from '../../../client/connection/config-entity';
import { deliveryInclude } from '../../hub-workload/delivery';
import { nameInConfig } from './config-files';

/** The values of the top-level keys. */
export type TopLevel = ReadonlyMap<string, Node | null>;

/** Key and value of an entry, as YAML. */
export type Addition = readonly [key: string, value: string];

/** Sections that the hub's config API writes, and the files that it writes them to (rules.md, "Generated configuration"). */
const INCLUDES = { automation: 'automations.yaml', scene: 'scenes.yaml', script: 'scripts.yaml' } as const;

/** The includes that these sections lack. */
export function missingIncludes(sections: TopLevel): Addition[] {
  return Object.entries(INCLUDES)
    .filter(([section, file]) => !isIncluded(sections, section, file))
    .map(([section, file]): Addition => [freeKey(sections, section), `!include ${file}`]);
}

/** The includes of delivered files that these sections lack, beside those of the files of the hub's API. */
export function deliveryIncludes(sections: TopLevel): Addition[] {
  return CONFIG_ENTITY_KINDS.flatMap((kind): Addition[] => {
    const file = deliveryInclude(kind);
    return isIncluded(sections, kind, file) ? [] : [[freeKey(sections, kind), `!include ${file}`]];
  });
}

/** One of the user's own sections of that name, with a label or without, includes the file already. */
function isIncluded(sections: TopLevel, section: string, file: string): boolean {
  return [...sections].some(([key, value]) => {
    if (key !== section && !key.startsWith(`${section} `)) return false;
    return isScalar(value) && value.tag === '!include' && nameInConfig(String(value.value)) === file;
  });
}

/** The section itself or, beside the user's own one, a labelled section, which the hub merges with it. */
export function freeKey(sections: TopLevel, section: string): string {
  if (!sections.has(section)) return section;
  const label = `${section} hub_operator`;
  let key = label;
  for (let count = 2; sections.has(key); count++) key = `${label}_${count}`;
  return key;
}

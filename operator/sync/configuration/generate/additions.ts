import { isMap, isScalar, type Node, type Pair } from 'yaml';
import { CONFIG_ENTITY_KINDS, OWN_FILES } from '../../../client/connection/config-entity';
import type { HubConfigurationSpec } from '../../../kinds';
import { deliveryInclude } from '../../hub-pod/delivery';
import { quote, RECORDER_KEY } from '../../secrets-yaml/secrets-yaml';
import { nameInConfig } from './config-files';
import type { HubYaml } from './hub-yaml';
import { insertIntoValue } from './insert-entries';
import { dereference, entriesOf, entryOf } from './merge-keys';

/** The values of the top-level keys of `configuration.yaml`. */
export type TopLevel = ReadonlyMap<string, Node | null>;

/** Key and value of an entry, as YAML. */
export type Addition = readonly [key: string, value: string];

/** The includes of these files that the sections lack. */
const lacking = (sections: TopLevel, files: readonly (readonly [section: string, file: string])[]) =>
  files
    .filter(([section, file]) => !isIncluded(sections, section, file))
    .map(([section, file]): Addition => [freeKey(sections, section), `!include ${file}`]);

/** The includes of the files that the hub's API writes (rules.md, "Generated configuration"). */
export const missingIncludes = (sections: TopLevel): Addition[] =>
  lacking(sections, Object.entries(OWN_FILES));

/** The includes of delivered files, beside the includes of the files of the hub's API. */
export const deliveryIncludes = (sections: TopLevel): Addition[] =>
  lacking(
    sections,
    CONFIG_ENTITY_KINDS.map((kind) => [kind, deliveryInclude(kind)]),
  );

/** Reports whether the user's section of that name, with or without a label, already includes the file. */
function isIncluded(sections: TopLevel, section: string, file: string): boolean {
  return [...sections].some(([key, value]) => {
    if (key !== section && !key.startsWith(`${section} `)) return false;
    return isScalar(value) && value.tag === '!include' && nameInConfig(String(value.value)) === file;
  });
}

/**
 * The key for an added section. If the user has a section of that name, a label is added to the key: the hub
 * merges labelled sections.
 */
export function freeKey(sections: TopLevel, section: string): string {
  if (!sections.has(section)) return section;
  const label = `${section} hub_operator`;
  let key = label;
  for (let count = 2; sections.has(key); count++) key = `${label}_${count}`;
  return key;
}

type Recorder = NonNullable<HubConfigurationSpec['recorder']>;

interface WithRecorder {
  /** The text, with the missing entries added to its section recorder. */
  readonly text: string;
  /** The section to add to the text. */
  readonly addition?: Addition;
  /** Sentences about settings that have no effect. */
  readonly notices: readonly string[];
}

const DISABLED =
  'spec.recorder.enabled is false, and spec.configuration has a section recorder, so the hub records: remove one of the two.';
const ELSEWHERE =
  'The section recorder in spec.configuration is an include, an alias or a value, so spec.recorder has no effect: remove one of the two.';

/** Adds the recorder to a configuration. Settings in the user's own section take precedence. */
export function withRecorder(
  text: string,
  { root, anchors }: HubYaml,
  recorder: HubConfigurationSpec['recorder'],
): WithRecorder {
  const pair =
    isMap(root) &&
    (root.items as Pair<Node, Node | null>[]).find(({ key }) => isScalar(key) && key.value === 'recorder');
  const inherited = isMap(root) && !pair && entryOf(root, 'recorder', anchors) !== undefined;
  if (!recorder) return { text, notices: [] };
  if (recorder.enabled === false) return { text, notices: pair || inherited ? [DISABLED] : [] };
  const entries = entriesFor(recorder);
  if (inherited) return { text, notices: [ELSEWHERE] };
  if (!pair) return { text, addition: ['recorder', `{${entries.map(inOneLine).join(', ')}}`], notices: [] };

  const written = dereference(pair.value, anchors);
  const own = isMap(written) ? entriesOf(written, anchors) : new Map<string, unknown>();
  const overridden = entries.flatMap(([key]) =>
    own.has(key)
      ? `${key} of recorder in spec.configuration overrides spec.recorder: remove one of the two.`
      : [],
  );
  const missing = entries.filter(([key]) => !own.has(key));
  const extended = insertIntoValue(text, pair, missing.map(inOneLine));
  if (extended === undefined) return { text, notices: [...overridden, ELSEWHERE] };
  return { text: extended, notices: overridden };
}

/** The entry as YAML: `key: value`. */
export const inOneLine = ([key, value]: Addition): string => `${key}: ${value}`;

/**
 * The entries of the section recorder. A URL from a Secret is stored in `secrets.yaml`, never in the
 * ConfigMap.
 */
function entriesFor({ database, databaseSecretRef, purgeKeepDays }: Recorder): Addition[] {
  const url = databaseSecretRef ? `!secret ${RECORDER_KEY}` : database && quote(database);
  return [
    ...(url ? [['db_url', url] as const] : []),
    ...(purgeKeepDays === undefined ? [] : [['purge_keep_days', String(purgeKeepDays)] as const]),
  ];
}

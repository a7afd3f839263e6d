import { isMap, isScalar, type Node, type Pair } from 'yaml';
import type { HubConfigurationSpec } from '../../../kinds';
import { quote, RECORDER_KEY } from '../../secrets-yaml/secrets-yaml';
import { dereference, entriesOf, type HubYaml } from './hub-yaml';
import type { Addition } from './includes';
import { insertIntoValue } from './insert-entries';

type Recorder = HubConfigurationSpec['recorder'];

export interface WithRecorder {
  /** The text, in which the missing entries were added to the section recorder. */
  readonly text: string;
  /** The section to add to it. */
  readonly addition?: Addition;
  /** The settings without effect, as sentences. */
  readonly notices: readonly string[];
}

const DISABLED =
  'spec.recorder.enabled is false, and spec.configuration has a section recorder, so the hub records: remove one of the two.';
const ELSEWHERE =
  'The section recorder in spec.configuration is an include, an alias or a value, so spec.recorder has no effect: remove one of the two.';

/** Adds the recorder to a configuration. Where its own section says something, that counts. */
export function withRecorder(text: string, { root, anchors }: HubYaml, recorder: Recorder): WithRecorder {
  const pair =
    isMap(root) &&
    (root.items as Pair<Node, Node | null>[]).find(({ key }) => isScalar(key) && key.value === 'recorder');
  const inherited = isMap(root) && !pair && entriesOf(root, anchors).has('recorder');
  if (!recorder) return { text, notices: [] };
  if (recorder.enabled === false) return { text, notices: pair || inherited ? [DISABLED] : [] };
  const entries = entriesFor(recorder);
  if (inherited) return { text, notices: [ELSEWHERE] };
  if (!pair) return { text, addition: ['recorder', `{${entries.map(inOneLine).join(', ')}}`], notices: [] };

  const written = dereference(pair.value, anchors);
  const own = isMap(written) ? entriesOf(written, anchors) : new Map<string, unknown>();
  const overridden = entries
    .filter(([key]) => own.has(key))
    .map(
      ([key]) => `${key} of recorder in spec.configuration overrides spec.recorder: remove one of the two.`,
    );
  const missing = entries.filter(([key]) => !own.has(key));
  const extended = insertIntoValue(text, pair, missing.map(inOneLine));
  return extended === undefined
    ? { text, notices: [...overridden, ELSEWHERE] }
    : { text: extended, notices: overridden };
}

/** `key: value` */
export const inOneLine = ([key, value]: Addition): string => `${key}: ${value}`;

/** The URL of a Secret is in `secrets.yaml`, and never in the ConfigMap. */
function entriesFor({ database, databaseSecretRef, purgeKeepDays }: NonNullable<Recorder>): Addition[] {
  const url = databaseSecretRef ? `!secret ${RECORDER_KEY}` : database && quote(database);
  return [
    ...(url ? [['db_url', url] as const] : []),
    ...(purgeKeepDays === undefined ? [] : [['purge_keep_days', String(purgeKeepDays)] as const]),
  ];
}

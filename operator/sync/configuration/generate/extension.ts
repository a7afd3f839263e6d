import { isDeepStrictEqual } from 'node:util';
import { isMap } from 'yaml';
import type { HubConfigurationSpec } from '../../../kinds';
import {
  type Addition,
  deliveryIncludes,
  freeKey,
  inOneLine,
  missingIncludes,
  type TopLevel,
  withRecorder,
} from './additions';
import type { HubYaml, parseHubYaml } from './hub-yaml';
import { insertAtTop } from './insert-entries';
import { entriesOf } from './merge-keys';

/** The sections that the hub needs in `configuration.yaml` beside those of the user. */
interface Extension {
  /** The user's text with the missing entries of its section recorder. The sections are added to it. */
  readonly base: string;
  readonly file: HubYaml;
  /** The sections of `base`. */
  readonly sections: TopLevel;
  /** The sections to add, except the marker. */
  readonly additions: readonly Addition[];
  /** Sentences about parts of `spec.recorder` that do not take effect. */
  readonly notices: readonly string[];
}

/**
 * Finds the sections to add.
 *
 * @param text `configuration.yaml` without a byte order mark
 * @returns undefined when the text is written in a way that cannot be extended
 */
export function extensionOf(
  text: string,
  parsed: HubYaml,
  { recorder, readsDelivery }: Pick<HubConfigurationSpec, 'recorder'> & { readonly readsDelivery?: boolean },
  parse: typeof parseHubYaml,
): Extension | undefined {
  const { text: base, addition, notices } = withRecorder(text, parsed, recorder);
  const file = parse(base);
  if (!('document' in file)) return undefined;
  const sections = sectionsOf(file);
  const own = [...missingIncludes(sections), ...(addition ? [addition] : [])];
  const additions = [...own, ...(readsDelivery ? deliveryIncludes(withKeys(sections, own)) : [])];
  return { base, file, sections, additions, notices };
}

/** The text with all sections except the marker. Empty if it cannot be extended. */
export const unmarkedText = ({ base, file, additions }: Extension): string =>
  insertAtTop(base, file, additions.map(inOneLine)) ?? '';

/**
 * The text with all sections and the marker. It is parsed again to verify it.
 *
 * @param marker value of the section of the marker, as YAML
 * @returns undefined when the text cannot be extended
 */
export function markedText(
  { base, file, sections, additions }: Extension,
  marker: string,
  parse: typeof parseHubYaml,
): string | undefined {
  const key = freeKey(withKeys(sections, additions), 'script');
  const complete = [...additions, [key, marker] as const];
  const text = insertAtTop(base, file, complete.map(inOneLine)) ?? '';
  const result = parse(text);
  return 'document' in result && hasKeys(result, sections, complete) ? text : undefined;
}

const withKeys = (sections: TopLevel, additions: readonly Addition[]): TopLevel =>
  new Map([...sections, ...additions.map(([key]) => [key, null] as const)]);

function sectionsOf({ root, anchors }: HubYaml): TopLevel {
  return isMap(root) ? entriesOf(root, anchors) : new Map();
}

/** Reports whether the file has exactly the given sections and additions. */
function hasKeys(file: HubYaml, sections: TopLevel, additions: readonly Addition[]): boolean {
  const expected = [...sections.keys(), ...additions.map(([key]) => key)].sort();
  return isDeepStrictEqual([...sectionsOf(file).keys()].sort(), expected);
}

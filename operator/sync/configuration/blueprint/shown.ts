import { isObject } from '../../../base/is-object';
import type { Blueprints, ListedBlueprint } from '../../../client/blueprints';
import type { BlueprintDomain, EntityPayload } from '../../../client/connection/config-entity';
import { payloadHash } from '../../objects/payload-hash';

// The hub never returns the text of a blueprint. It returns the metadata, and the body with given inputs
// filled in.

type Fields = Readonly<Record<string, unknown>>;

/** A blueprint as far as the hub returns it. */
export interface Shown {
  /** Hash of metadata, body and source, as `sha256:<hex>`. */
  readonly hash: string;
  /** Hash of metadata and body, without the source, as `sha256:<hex>`. */
  readonly content: string;
  readonly sourceUrl: string | undefined;
}

/**
 * Reads a blueprint through probes of its inputs.
 *
 * @throws HubFailed the hub cannot read the blueprint
 */
export async function shownBlueprint(
  blueprints: Pick<Blueprints, 'substitute'>,
  domain: BlueprintDomain,
  path: string,
  { metadata = {} }: ListedBlueprint,
): Promise<Shown> {
  const { source_url: source, ...own } = metadata;
  const sourceUrl = typeof source === 'string' ? source : undefined;
  const bodies: Fields[] = [];
  for (const input of probesOf(own))
    bodies.push(canonicalBody(domain, await blueprints.substitute(domain, path, input)));
  const content = { metadata: own, bodies };
  return { hash: payloadHash({ ...content, sourceUrl }), content: payloadHash(content), sourceUrl };
}

const RENAMED: Readonly<Record<string, string>> = {
  trigger: 'triggers',
  condition: 'conditions',
  action: 'actions',
};

/**
 * A body with the present names of its keys. The hub returns keys as they were sent until its next reload,
 * which renames them.
 */
export function canonicalBody(domain: BlueprintDomain, body: EntityPayload): EntityPayload {
  if (domain === 'script') return body;
  return Object.fromEntries(Object.entries(body).map(([key, value]) => [RENAMED[key] ?? key, value]));
}

/** Maximum number of further probes, for inputs with conditions. */
const MOST_PROBES = 8;

/**
 * Sets of inputs that make every use of an input visible in the body, since each input has its own text. The
 * hub replaces an input whose condition `visible` is false by its default. So further sets have values that
 * make these conditions true.
 */
function probesOf(metadata: Fields): readonly Fields[] {
  const inputs = inputsOf(metadata);
  const marked = Object.fromEntries(inputs.map(({ name }) => [name, `hub-operator input ${name}`]));
  const needed = new Map<string, unknown[]>();
  for (const { field, value } of inputs.flatMap(({ conditions }) => conditions)) {
    const values = needed.get(field) ?? [];
    if (!values.includes(value)) values.push(value);
    needed.set(field, values);
  }
  const count = Math.min(MOST_PROBES, Math.max(0, ...[...needed.values()].map(({ length }) => length)));
  const further = Array.from({ length: count }, (_, index) => {
    const chosen = [...needed].map(([field, values]) => [field, values[index] ?? values[0]] as const);
    return { ...marked, ...Object.fromEntries(chosen) };
  });
  return [marked, ...further];
}

interface Input {
  readonly name: string;
  /** Values of other inputs that make this input visible. The text of a probe is no such value. */
  readonly conditions: readonly { readonly field: string; readonly value: unknown }[];
}

/** The inputs, including those in sections. */
function inputsOf({ input }: Fields): readonly Input[] {
  return entriesIn(input).flatMap(([name, value]) => {
    const fields = isObject(value) ? value : {};
    if (!('input' in fields)) return [{ name, conditions: conditionsIn(fields['visible']) }];
    const ofSection = conditionsIn(fields['visible']);
    return entriesIn(fields['input']).map(([each, inner]) => ({
      name: each,
      conditions: [...ofSection, ...conditionsIn(isObject(inner) ? inner['visible'] : undefined)],
    }));
  });
}

const entriesIn = (value: unknown): [string, unknown][] => (isObject(value) ? Object.entries(value) : []);

function conditionsIn(visible: unknown): Input['conditions'] {
  return [visible].flat().flatMap((condition) => {
    if (!isObject(condition) || typeof condition['field'] !== 'string') return [];
    const { field, operator = 'eq', value } = condition;
    switch (operator) {
      case 'eq':
        return [{ field, value }];
      case 'in':
        return [{ field, value: Array.isArray(value) ? (value as unknown[])[0] : undefined }];
      case 'not_exists':
        return [{ field, value: '' }];
      default:
        return [];
    }
  });
}

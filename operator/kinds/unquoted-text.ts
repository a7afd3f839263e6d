/**
 * Fields in which the hub accepts strings only. A boolean or number there is the result of an unquoted word
 * in YAML.
 */
const places = [
  { key: 'trigger', type: 'state', fields: ['to', 'from', 'not_to', 'not_from'] },
  { key: 'platform', type: 'state', fields: ['to', 'from', 'not_to', 'not_from'] }, // the former name of `trigger`
  { key: 'condition', type: 'state', fields: ['state'] },
] as const;

/** A state that is not a string. */
interface UnquotedText {
  /** Path of the value, such as `spec.triggers[0].to`. */
  readonly path: string;
  readonly value: boolean | number;
}

/**
 * Finds states of triggers and conditions that are not strings. For example, kubectl reads an unquoted `to:
 * on` as a boolean, and the hub would reject it.
 *
 * @param value a spec, or the object that is sent to the hub
 * @param path path of the value, such as `spec`; if it is empty, the results begin with the names of fields
 */
export function unquotedTexts(value: unknown, path: string): UnquotedText[] {
  if (Array.isArray(value)) return value.flatMap((item, index) => unquotedTexts(item, `${path}[${index}]`));
  if (typeof value !== 'object' || value === null) return [];
  const object = value as Readonly<Record<string, unknown>>;
  const within = (field: string): string => (path === '' ? field : `${path}.${field}`);
  return [
    ...textFields(object).flatMap((field) => {
      const found = [object[field]]
        .flat()
        .find((item) => typeof item === 'boolean' || typeof item === 'number');
      return found === undefined ? [] : [{ path: within(field), value: found }];
    }),
    ...Object.entries(object).flatMap(([field, part]) => unquotedTexts(part, within(field))),
  ];
}

/** A sentence with the problem and the correction. */
export function unquotedTextMessage({ path, value }: UnquotedText): string {
  return typeof value === 'boolean'
    ? `${path} is the boolean ${value}, and the hub wants text: quote on, off, yes, no, true and false.`
    : `${path} is the number ${value}, and the hub wants text: quote it.`;
}

function textFields(object: Readonly<Record<string, unknown>>): readonly string[] {
  if ('attribute' in object) return []; // attributes may have any type
  return places.filter(({ key, type }) => object[key] === type).flatMap(({ fields }) => fields);
}

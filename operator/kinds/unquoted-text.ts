/** Where the hub takes text only, so that it catches what YAML has made of an unquoted word. */
const places = [
  { key: 'trigger', type: 'state', fields: ['to', 'from', 'not_to', 'not_from'] },
  { key: 'platform', type: 'state', fields: ['to', 'from', 'not_to', 'not_from'] }, // the former name of `trigger`
  { key: 'condition', type: 'state', fields: ['state'] },
] as const;

/** A state that is no text. */
interface UnquotedText {
  /** `spec.triggers[0].to` */
  readonly path: string;
  readonly value: boolean | number;
}

/**
 * Finds states of triggers and conditions that are no text: kubectl has read an unquoted `to: on` as a boolean, and the
 * hub will reject it.
 *
 * @param value a spec, or the object that is sent to the hub
 * @param path where it is: `spec`; empty: paths begin with the names of its fields
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

/** The fault and the way out, as a sentence. */
export function unquotedTextMessage({ path, value }: UnquotedText): string {
  return typeof value === 'boolean'
    ? `${path} is the boolean ${value}, and the hub wants text: quote on, off, yes, no, true and false.`
    : `${path} is the number ${value}, and the hub wants text: quote it.`;
}

function textFields(object: Readonly<Record<string, unknown>>): readonly string[] {
  if ('attribute' in object) return []; // attributes may have any type
  return places.filter(({ key, type }) => object[key] === type).flatMap(({ fields }) => fields);
}

/**
 * Structural schemas as literals, and the TypeScript types that are derived from them.
 *
 * A schema is sent to the API server in a CRD (OpenAPI v3, the structural subset). It is written once, `as
 * const`, so that the compiler derives the resource's type from the text that the API server enforces.
 * Restrictions of CRDs: patterns are RE2; every list, map and string that a CEL rule reads needs a maximum
 * size, or the API server rejects the CRD because of the estimated cost.
 */
export interface Schema {
  /**
   * Type of the value. Absent only with `x-kubernetes-int-or-string` or
   * `x-kubernetes-preserve-unknown-fields`.
   */
  readonly type?: 'string' | 'integer' | 'number' | 'boolean' | 'array' | 'object';
  readonly format?: 'date-time' | 'int32' | 'int64';
  readonly description?: string;
  /**
   * The value of an absent field. The API server fills in only defaults of scalars on the first level of
   * `spec` (`serverDefaults`); `defaulted` fills in deeper ones and an object's `{}`. If the API server
   * filled in a default inside an object that a user wrote, tools would show it as a difference.
   */
  readonly default?: unknown;
  /** If true, the API server keeps a null in the field. It drops null from all other fields of a schema. */
  readonly nullable?: true;
  readonly enum?: readonly string[];
  readonly pattern?: string;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly items?: Schema;
  readonly minItems?: number;
  readonly maxItems?: number;
  readonly properties?: Readonly<Record<string, Field>>;
  readonly required?: readonly string[];
  readonly additionalProperties?: Schema;
  /** Alternatives, one of which must hold. A structural schema allows only value validations here. */
  readonly anyOf?: readonly { readonly required: readonly string[] }[];
  readonly minProperties?: number;
  readonly maxProperties?: number;
  readonly 'x-kubernetes-preserve-unknown-fields'?: true;
  readonly 'x-kubernetes-int-or-string'?: true;
  readonly 'x-kubernetes-list-type'?: 'atomic' | 'set' | 'map';
  readonly 'x-kubernetes-list-map-keys'?: readonly string[];
  readonly 'x-kubernetes-map-type'?: 'atomic' | 'granular';
  readonly 'x-kubernetes-validations'?: readonly CelRule[];
}

/** The schema of a named field, which needs a description. Items of a list are described by the list. */
export type Field = Schema & { readonly description: string };

export interface CelRule {
  readonly rule: string;
  /** Names the field and says how to correct it. */
  readonly message: string;
  /** Path of the field that the error names, relative to the schema that contains the rule. */
  readonly fieldPath?: string;
}

/** The type of a value with this schema, as read from the API server. */
export type Infer<S> = Value<S, false>;

/** The type of a value after `defaulted`: fields with a default are present. */
export type Defaulted<S> = Value<S, true>;

type Value<S, Filled extends boolean> = S extends { readonly enum: readonly (infer Choice)[] }
  ? Choice
  : S extends { readonly 'x-kubernetes-int-or-string': true }
    ? string | number
    : S extends { readonly type: 'string' }
      ? string
      : S extends { readonly type: 'integer' | 'number' }
        ? number
        : S extends { readonly type: 'boolean' }
          ? boolean
          : S extends { readonly type: 'array'; readonly items: infer Item }
            ? readonly Value<Item, Filled>[]
            : S extends { readonly type: 'object' }
              ? ObjectValue<S, Filled>
              : unknown;

type ObjectValue<S, Filled extends boolean> = S extends { readonly properties: infer P }
  ? S extends { readonly 'x-kubernetes-preserve-unknown-fields': true }
    ? Properties<P, PresentKeys<S, P, Filled>, Filled> & Readonly<Record<string, unknown>>
    : Properties<P, PresentKeys<S, P, Filled>, Filled>
  : S extends { readonly additionalProperties: infer V }
    ? Readonly<Record<string, Value<V, Filled>>>
    : Readonly<Record<string, unknown>>;

type Properties<P, Present, Filled extends boolean> = Flat<
  { readonly [K in keyof P as K extends Present ? K : never]: Value<P[K], Filled> } & {
    readonly [K in keyof P as K extends Present ? never : K]?: Value<P[K], Filled>;
  }
>;

type PresentKeys<S, P, Filled extends boolean> =
  | (S extends { readonly required: readonly (infer K)[] } ? K : never)
  | (Filled extends true ? KeysWithDefault<P> : never);

type KeysWithDefault<P> = { [K in keyof P]: P[K] extends { readonly default: unknown } ? K : never }[keyof P];

type Flat<T> = { [K in keyof T]: T[K] };

/**
 * Fills in the default of every absent field, in the objects that are present and in those with the default
 * `{}`.
 */
export function defaulted<S extends Schema>(schema: S, value: Infer<S>): Defaulted<S> {
  return filled(schema, value) as Defaulted<S>;
}

function filled(schema: Schema, given: unknown): unknown {
  const value = given === undefined ? schema.default : given;
  const { items, properties, additionalProperties } = schema;
  if (Array.isArray(value)) return items ? value.map((item) => filled(items, item)) : value;
  if (!isObject(value)) return value;
  if (additionalProperties) return mapValues(value, (entry) => filled(additionalProperties, entry));
  const fields = Object.entries(properties ?? {}).map(([name, field]) => [name, filled(field, value[name])]);
  return { ...value, ...Object.fromEntries(fields.filter(([, entry]) => entry !== undefined)) };
}

/** A copy of the schema of a `spec` with only those defaults that the API server has to fill in. */
export function serverDefaults(spec: Schema): Schema {
  return {
    ...spec,
    properties: mapValues(spec.properties ?? {}, (field) => withoutDefaults(field, isScalar)),
  };
}

const isScalar = (value: unknown) => !isObject(value) && !Array.isArray(value);

function withoutDefaults<S extends Schema>(schema: S, keeps: (value: unknown) => boolean = () => false): S {
  const { default: value, ...rest } = schema;
  const inner: Record<string, unknown> = { ...rest };
  if (value !== undefined && keeps(value)) inner['default'] = value;
  if (rest.items) inner['items'] = withoutDefaults(rest.items);
  if (rest.properties) inner['properties'] = mapValues(rest.properties, (field) => withoutDefaults(field));
  if (rest.additionalProperties) inner['additionalProperties'] = withoutDefaults(rest.additionalProperties);
  return inner as S;
}

/**
 * A copy in which each list states its type, since a list without one is atomic and changing it to a map
 * later breaks stored objects.
 */
export function withListTypes<S extends Schema>(schema: S): S {
  const { items, properties, additionalProperties } = schema;
  return {
    ...schema,
    ...(schema.type === 'array' && {
      'x-kubernetes-list-type': schema['x-kubernetes-list-type'] ?? 'atomic',
    }),
    ...(items && { items: withListTypes(items) }),
    ...(properties && { properties: mapValues(properties, withListTypes) }),
    ...(additionalProperties && { additionalProperties: withListTypes(additionalProperties) }),
  };
}

function mapValues<V, R>(record: Readonly<Record<string, V>>, map: (value: V) => R): Record<string, R> {
  return Object.fromEntries(Object.entries(record).map(([key, value]) => [key, map(value)]));
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

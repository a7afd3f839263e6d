import { automation, hub, kinds, type Hub, type HubAutomation, type HubSpec } from '../../../operator/kinds';
import {
  defaulted,
  serverDefaults,
  type Defaulted,
  type Infer,
  type Schema,
} from '../../../operator/kinds/schema';

type Equal<A, B> = (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false;

/** Fails at compile time, not at run time. */
function isType<_Holds extends true>(): void {}

const schema = {
  type: 'object',
  properties: {
    name: { type: 'string', description: 'x' },
    mode: { type: 'string', description: 'x', enum: ['a', 'b'], default: 'a' },
    size: { description: 'x', 'x-kubernetes-int-or-string': true },
    free: { type: 'object', description: 'x', 'x-kubernetes-preserve-unknown-fields': true },
    map: { type: 'object', description: 'x', additionalProperties: { type: 'integer' } },
    list: {
      type: 'array',
      description: 'x',
      items: { type: 'object', properties: { on: { type: 'boolean', description: 'x', default: true } } },
    },
    always: {
      type: 'object',
      description: 'x',
      default: {},
      properties: { days: { type: 'integer', description: 'x', default: 7 } },
    },
    backup: {
      type: 'object',
      description: 'x',
      properties: { days: { type: 'integer', description: 'x', default: 7 } },
    },
  },
  required: ['name'],
} as const satisfies Schema;

describe('Infer, Defaulted', () => {
  type Read = Infer<typeof schema>;
  type Filled = Defaulted<typeof schema>;

  test('the types follow from the schema', () => {
    isType<Equal<Read['name'], string>>();
    isType<Equal<Read['mode'], 'a' | 'b' | undefined>>();
    isType<Equal<Read['size'], string | number | undefined>>();
    isType<Equal<Read['free'], Readonly<Record<string, unknown>> | undefined>>();
    isType<Equal<Read['map'], Readonly<Record<string, number>> | undefined>>();
    isType<Equal<NonNullable<Read['list']>[number]['on'], boolean | undefined>>();
    isType<Equal<Filled['mode'], 'a' | 'b'>>();
    isType<Equal<Filled['always']['days'], number>>();
    isType<Equal<NonNullable<Filled['backup']>['days'], number>>();
    isType<Equal<NonNullable<Filled['list']>[number]['on'], boolean>>();
  });

  test('the types of the kinds are exact', () => {
    isType<Equal<HubAutomation['spec']['mode'], 'single' | 'restart' | 'queued' | 'parallel' | undefined>>();
    isType<Equal<HubAutomation['spec']['hubRef']['name'], string>>();
    isType<Equal<HubSpec['service']['port'], number>>();
    isType<Equal<NonNullable<Hub['status']>['selfUnbanCount'], number | undefined>>();
  });
});

describe('defaulted', () => {
  test('fills in absent fields, in objects that exist or have a default themselves', () => {
    expect(defaulted(schema, { name: 'x' })).toEqual({ name: 'x', mode: 'a', always: { days: 7 } });
  });

  test('fills in list items and objects that a user wrote', () => {
    expect(defaulted(schema, { name: 'x', list: [{}, { on: false }], backup: {} })).toMatchObject({
      list: [{ on: true }, { on: false }],
      backup: { days: 7 },
    });
  });

  test('keeps existing values, including false, 0 and unknown fields', () => {
    const value = {
      name: '',
      mode: 'b',
      size: 0,
      free: { to: null, deep: [{}] },
      map: { a: 0 },
      always: { days: 0 },
    } as const;
    expect(defaulted(schema, value)).toEqual(value);
  });

  test('does not change its argument', () => {
    const spec = Object.freeze({});
    expect(defaulted(hub.spec, spec)).toMatchObject({ storage: { size: '5Gi' }, service: { port: 8123 } });
    expect(spec).toEqual({});
  });

  test('leaves optional blocks of a Hub absent', () => {
    expect(Object.keys(defaulted(hub.spec, {}))).toEqual(
      expect.not.arrayContaining(['backup', 'external', 'ingress', 'gateway', 'resources']),
    );
  });
});

describe('serverDefaults', () => {
  const defaultsOf = (value: Schema): unknown[] => [
    ...(value.default === undefined ? [] : [value.default]),
    ...Object.values(value.properties ?? {}).flatMap(defaultsOf),
    ...[value.items, value.additionalProperties].flatMap((inner) => (inner ? defaultsOf(inner) : [])),
  ];

  test('keeps those of scalars of the first level', () => {
    expect(serverDefaults(automation.spec).properties).toMatchObject({
      enabled: { default: true },
      driftPolicy: { default: 'Correct' },
    });
  });

  test.each(kinds.map(({ kind, spec }) => [kind, spec] as const))('drops all others of %s', (_, spec) => {
    const { properties = {} } = serverDefaults(spec);
    const inner = Object.values(properties).map((field) => ({ ...field, default: undefined }));
    expect(inner.flatMap(defaultsOf)).toEqual([]);
    for (const { default: value } of Object.values(properties)) expect(typeof value).not.toBe('object');
  });
});

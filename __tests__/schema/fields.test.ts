import { serverDefaults, type Schema } from '../../operator/kinds/schema';
import { kinds } from '../../operator/kinds';
import { ApiServer, names, type Verdict } from './api-server';
import { fullSample } from './full';
import { type Change, type Place, changed, fieldPath, places, valueAt } from './places';
import { patterns } from './patterns';

/**
 * Tests every constraint of a single field at every place: the API server accepts valid values and refuses
 * others, naming the field. The cases are derived from the schemas, so a new field is tested automatically.
 */

// Fields that must be absent for a value to be allowed.
const companions: Readonly<Record<string, readonly string[]>> = {
  'Hub spec.service.type': [
    'nodePort',
    'loadBalancerClass',
    'loadBalancerSourceRanges',
    'externalTrafficPolicy',
  ].map((field) => `spec.service.${field}`),
  'HubAutomation spec.mode': ['spec.max'],
  'HubScript spec.mode': ['spec.max'],
  'HubHelper spec.text.min': ['spec.text.initial'],
  'HubHelper spec.text.max': ['spec.text.initial'],
  'HubHelper spec.select.options': ['spec.select.initial'],
};

const where = (accepts: (schema: Schema, place: Place) => boolean) =>
  places
    .filter((place) => accepts(place.schema, place))
    .map((place) => [`${place.kind} ${place.path}`, place] as const);

let api: ApiServer;

beforeAll(async () => {
  api = await ApiServer.withKinds();
  for (const { kind } of kinds) await api.store(changed(fullSample(kind), { 'metadata.name': 'stored' }));
});

/** Creates the full sample with one value in one place. */
function tried({ kind, path }: Place, value: unknown): Promise<Verdict> {
  const absent: Change = Object.fromEntries(
    (companions[`${kind} ${path}`] ?? []).map((field) => [field, undefined]),
  );
  // A helper has the settings of its sort.
  const isSort = `${kind} ${path}` === 'HubHelper spec.type';
  const sample = changed(fullSample(kind, isSort ? `spec.${String(value)}` : path), {
    ...absent,
    ...(isSort && value === 'button' && { 'spec.boolean': undefined }),
    [path]: value,
  });
  return path.startsWith('status')
    ? api.updateStatus(changed(sample, { 'metadata.name': 'stored' }))
    : api.create(sample);
}

const sampleAt = ({ kind, path }: Place) => valueAt(fullSample(kind, path), path);

async function expectAccepted(place: Place, ...values: readonly unknown[]): Promise<void> {
  for (const value of values)
    expect({ value, ...(await tried(place, value)) }).toMatchObject({ refusals: [] });
}

async function expectRefused(place: Place, because: RegExp, ...values: readonly unknown[]): Promise<void> {
  const field = fieldPath(fullSample(place.kind, place.path), place.path);
  for (const value of values) {
    const verdict = await tried(place, value);
    expect({ value, ...verdict, saysWhy: names(verdict, field, because) }).toMatchObject({ saysWhy: true });
  }
}

describe('choices', () => {
  test.each(where(({ enum: choices }) => choices !== undefined))('%s', async (_, place) => {
    await expectAccepted(place, ...place.schema.enum!);
    await expectRefused(place, /Unsupported value/, 'Nonsense');
  });
});

describe('patterns', () => {
  test.each(where(({ pattern }) => pattern !== undefined))('%s', async (_, place) => {
    const { pattern } = place.schema;
    const examples = patterns[pattern!];
    if (!examples)
      throw new Error(`there are no examples of the pattern ${pattern} in __tests__/schema/patterns.ts`);
    const { good, bad } = examples;
    await expectAccepted(place, ...good);
    await expectRefused(place, /should match/, ...bad);
  });
});

describe('bounds', () => {
  test.each(where(({ minimum }) => minimum !== undefined))('%s has a least value', async (_, place) => {
    const { minimum } = place.schema;
    await expectAccepted(place, minimum);
    await expectRefused(place, /greater than or equal to/, minimum! - 1);
  });

  test.each(where(({ maximum }) => maximum !== undefined))('%s has a greatest value', async (_, place) => {
    const { maximum } = place.schema;
    await expectAccepted(place, maximum);
    await expectRefused(place, /less than or equal to/, maximum! + 1);
  });

  test.each(where(({ minLength }) => minLength !== undefined))('%s must not be empty', (_, place) =>
    expectRefused(place, /at least 1 chars/, ''),
  );

  test.each(where(({ maxLength }) => maxLength !== undefined))('%s must not be too long', (_, place) =>
    expectRefused(place, /Too long/, 'x'.repeat(place.schema.maxLength! + 1)),
  );

  test.each(where(({ minItems }) => minItems !== undefined))('%s must have items', (_, place) =>
    expectRefused(place, /at least 1 items/, []),
  );

  test.each(where(({ maxItems }) => maxItems !== undefined))(
    '%s must not have too many items',
    (_, place) => {
      const [first] = sampleAt(place) as unknown[];
      return expectRefused(place, /Too many/, Array(place.schema.maxItems! + 1).fill(first));
    },
  );

  test.each(where(({ maxProperties }) => maxProperties !== undefined))(
    '%s must not have too many entries',
    (_, place) => {
      const [first] = Object.values(sampleAt(place) as Record<string, unknown>);
      const keys = Array.from({ length: place.schema.maxProperties! + 1 }, (_, index) => `k${index}.yaml`);
      return expectRefused(place, /Too many/, Object.fromEntries(keys.map((key) => [key, first])));
    },
  );
});

describe('presence', () => {
  test.each(where((_, { required }) => required))('%s is required', (_, place) =>
    expectRefused(place, /Required value/, undefined),
  );

  test.each(
    where(
      (schema) => schema['x-kubernetes-list-type'] === 'map' || schema['x-kubernetes-list-type'] === 'set',
    ),
  )('%s has each entry once', async (_, place) => {
    const [first] = sampleAt(place) as unknown[];
    const verdict = await tried(place, [first, first]);
    const field = `${fieldPath(fullSample(place.kind, place.path), place.path)}[1]`;
    expect({ ...verdict, saysWhy: names(verdict, field, 'Duplicate value') }).toMatchObject({
      saysWhy: true,
    });
  });

  const filledByServer = ({ kind, path }: Place) => {
    if (path === 'status') return true;
    const { properties = {} } = serverDefaults(kinds.find((definition) => definition.kind === kind)!.spec);
    return Object.keys(properties).some(
      (name) => path === `spec.${name}` && properties[name]?.default !== undefined,
    );
  };

  test.each(where((schema, place) => schema.default !== undefined && filledByServer(place)))(
    '%s has a default',
    async (_, place) => {
      const { object } = await tried(place, undefined);
      expect(valueAt(object!, place.path)).toEqual(place.schema.default);
    },
  );

  test.each(where((schema, place) => schema.default !== undefined && !filledByServer(place)))(
    '%s has a default that does not show in the object',
    async (_, place) => {
      const { object } = await tried(place, undefined);
      expect(valueAt(object!, place.path)).toBeUndefined();
    },
  );
});

describe('values as people write them', () => {
  test('an unquoted state is refused with its field', async () => {
    const scene = changed(fullSample('HubScene'), { 'spec.entities[].state': true });
    const verdict = await api.create(scene);
    expect(names(verdict, 'spec.entities[0].state', 'must be of type string')).toBe(true);
  });

  test.each([null, false, 0, '', [], {}, '0123', 1.5])('free-form objects keep %j', async (value) => {
    const triggers = [{ trigger: 'state', to: value, deep: [{ to: value }] }];
    const { object } = await api.create(changed(fullSample('HubAutomation'), { 'spec.triggers': triggers }));
    expect(valueAt(object!, 'spec.triggers')).toEqual(triggers);
  });

  const lists: [kind: string, list: string][] = [
    ['HubAutomation', 'conditions'],
    ['HubAutomation', 'actions'],
    ['HubScript', 'sequence'],
  ];

  test.each(lists)('%s.spec.%s keeps templates as strings beside objects', async (kind, list) => {
    const items = ['{{ is_state("sun.sun", "above_horizon") }}', { delay: 1, deep: [null, 'x'] }];
    const { object, refusals } = await api.create(changed(fullSample(kind), { [`spec.${list}`]: items }));
    expect(refusals).toEqual([]);
    expect(valueAt(object!, `spec.${list}`)).toEqual(items);
  });

  test.each([
    ['HubAutomation', 'actions'],
    ['HubScript', 'sequence'],
  ])('%s.spec.%s is needed without a blueprint, and may be empty', async (kind, list) => {
    const without = { 'spec.useBlueprint': undefined, [`spec.${list}`]: undefined };
    const verdict = await api.create(changed(fullSample(kind), without));
    expect({ ...verdict, named: names(verdict, `spec.${list}`, 'Required value') }).toMatchObject({
      named: true,
    });
    for (const change of [{ ...without, [`spec.${list}`]: [] }, { [`spec.${list}`]: undefined }])
      expect(await api.create(changed(fullSample(kind), change))).toMatchObject({ refusals: [] });
  });

  test('the mode beside a blueprint is stored only if it is written', async () => {
    const absent = { 'spec.mode': undefined, 'spec.max': undefined, 'spec.maxExceeded': undefined };
    const { object } = await api.create(changed(fullSample('HubAutomation'), absent));
    expect(valueAt(object!, 'spec.mode')).toBeUndefined();
    expect(valueAt(object!, 'spec.maxExceeded')).toBeUndefined();
    const single = { 'spec.mode': 'single', 'spec.max': undefined };
    const { object: written } = await api.create(changed(fullSample('HubAutomation'), single));
    expect(valueAt(written!, 'spec.mode')).toBe('single');
  });

  test('a condition of another controller needs no observedGeneration', async () => {
    const conditions = [
      {
        type: 'Audited',
        status: 'True',
        lastTransitionTime: '2026-11-20T10:00:00Z',
        reason: 'Yes',
        message: '',
      },
    ];
    const stored = { 'metadata.name': 'stored', 'status.conditions': conditions };
    expect(await api.updateStatus(changed(fullSample('HubScene'), stored))).toMatchObject({ refusals: [] });
  });

  test('a quantity may be a number', async () => {
    const hub = changed(fullSample('Hub'), { 'spec.resources.limits': { cpu: 2, memory: '2Gi' } });
    expect(await api.create(hub)).toMatchObject({ refusals: [] });
  });
});

test('every pattern of the schemas has examples, and no other', () => {
  const used = places.flatMap(({ schema }) => schema.pattern ?? []);
  expect([...new Set(used)].sort()).toEqual(Object.keys(patterns).sort());
  for (const { good, bad } of Object.values(patterns))
    expect(Math.min(good.length, bad.length)).toBeGreaterThan(0);
});

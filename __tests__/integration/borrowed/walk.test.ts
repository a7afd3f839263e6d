import type { HubClient } from '../../../operator/client/hub-client';
import { entity as definition } from '../../../operator/kinds';
import { freshNamespace, until } from '../../cluster';
import { area, configuration, DEFAULT_CONFIGURATION, entity, Home, label } from '../../cluster/home';
import { startHub } from '../../cluster/onboarded-volume';
import { startTestOperator, type TestOperator } from '../../cluster/operator';
import { randomNumbers, seed } from '../../seed';

// A random walk over the schema of HubEntity. Its fields are set, changed and cleared in any order. After
// each step the hub has exactly the settings of the spec, and the former values of all other settings.

const HUB = 'villa';
const STEPS = 40;
const TEXT = `${DEFAULT_CONFIGURATION}
template:
  - sensor:
      - name: Walked
        unique_id: walked
        state: "20"
        unit_of_measurement: "°C"
        device_class: temperature
`;

type Entry = Readonly<Record<string, unknown>>;
/** Values of one field, and the change in the hub's entry that each value causes. */
interface Field {
  readonly values: readonly unknown[];
  readonly inHub: (value: never, entry: Entry) => Entry;
}

const option = (scope: string, name: string) => (value: unknown, entry: Entry) => {
  const options = entry['options'] as Record<string, Entry>;
  return { options: { ...options, [scope]: { ...options[scope], [name]: value } } };
};
const isIn =
  (field: string, map: (value: string) => string = (value) => value) =>
  (values: readonly string[], entry: Entry) => ({
    [field]: [...new Set([...(entry[field] as (string | null)[]), ...values.map(map)])].sort(),
  });

const fields: Readonly<Record<string, Field>> = {
  name: { values: ['Shaun', 'Größe: "a"'], inHub: (name) => ({ name }) },
  icon: { values: ['mdi:sheep', 'mdi:grass'], inHub: (icon) => ({ icon }) },
  areaName: { values: ['Kitchen', 'Hall'], inHub: (name: string) => ({ area_id: name.toLowerCase() }) },
  labels: {
    values: [['Energy'], ['Ground', 'Energy'], ['Persons'], []],
    inHub: isIn('labels', (name) => name.toLowerCase()),
  },
  aliases: { values: [['One'], ['Two', 'One'], []], inHub: isIn('aliases') },
  hidden: { values: [true, false], inHub: (value) => ({ hidden_by: value ? 'user' : null }) },
  deviceClass: { values: ['humidity', 'power'], inHub: (value) => ({ device_class: value }) },
  unit: { values: ['K', '°F'], inHub: option('sensor', 'unit_of_measurement') },
  precision: { values: [0, 3], inHub: option('sensor', 'display_precision') },
  'expose.conversation': { values: [true, false], inHub: option('conversation', 'should_expose') },
  'expose.alexa': { values: [true, false], inHub: option('cloud.alexa', 'should_expose') },
  'expose.googleAssistant': {
    values: [true, false],
    inHub: option('cloud.google_assistant', 'should_expose'),
  },
  ...Object.fromEntries(
    ['automation', 'scene', 'script', 'helpers'].map((scope) => [
      `categories.${scope}`,
      {
        values: ['Night', 'Größe'],
        inHub: (value: string, entry: Entry) => ({
          categories: { ...(entry['categories'] as Entry), [scope]: value },
        }),
      },
    ]),
  ),
  entityId: { values: ['sensor.one', 'sensor.two'], inHub: (value) => ({ entity_id: value }) },
};

/** Fields of the spec that are not settings. */
const OTHERS = ['hubRef', 'suspend', 'deletionPolicy', 'driftPolicy', 'select'];
/**
 * A disabled entity of a YAML integration is enabled again only when the hub starts. Other tests cover it.
 */
const NOT_WALKED = ['disabled'];

let home: Home;
let operator: TestOperator;
let client: HubClient;

beforeAll(async () => {
  home = new Home(await freshNamespace('settings-walk'));
  operator = await startTestOperator(home.namespace);
  await startHub(home, HUB);
  await home.apply(configuration(HUB, TEXT));
  await home.ready('hubconfiguration', HUB);
  client = await home.client(HUB);
  await home.apply(
    area(HUB, 'kitchen', { name: 'Kitchen' }),
    area(HUB, 'hall', { name: 'Hall' }),
    label(HUB, 'energy', { name: 'Energy' }),
    label(HUB, 'ground', { name: 'Ground' }),
    label(HUB, 'persons', { name: 'Persons' }),
  );
  for (const name of ['energy', 'ground', 'persons']) await home.ready('hublabel', name);
  for (const name of ['kitchen', 'hall']) await home.ready('hubarea', name);
});

const COMPARED = [
  'entity_id',
  'name',
  'icon',
  'area_id',
  'labels',
  'aliases',
  'hidden_by',
  'device_class',
  'options',
];

async function entry(): Promise<Entry> {
  const listed = (await client.connection.command('config/entity_registry/list')) as unknown as Entry[];
  const { entity_id } = listed.find(({ unique_id }) => unique_id === 'walked')!;
  const whole = (await client.connection.command(
    'config/entity_registry/get' as never,
    { entity_id } as never,
  )) as unknown as Entry;
  const compared = Object.fromEntries(COMPARED.map((name) => [name, whole[name]]));
  return sorted({ ...compared, categories: await categoryNames(whole['categories'] as Entry) });
}

/** The categories of an entity by their names. */
async function categoryNames(ids: Entry): Promise<Entry> {
  const named = Object.entries(ids).map(async ([scope, id]) => {
    const all = (await client.connection.command('config/category_registry/list', {
      scope,
    } as never)) as unknown;
    return [scope, (all as Entry[]).find(({ category_id }) => category_id === id)?.['name']];
  });
  return Object.fromEntries(await Promise.all(named)) as Entry;
}

const sorted = (found: Entry): Entry => ({
  ...found,
  labels: [...(found['labels'] as string[])].sort(),
  aliases: [...(found['aliases'] as string[])].sort(),
});

/** Returns the entry that the hub has after it had `former` and a resource with this spec was applied. */
function expected(former: Entry, spec: Readonly<Record<string, unknown>>): Entry {
  return sorted(
    Object.entries(spec).reduce(
      (now, [name, value]) => ({ ...now, ...fields[name]!.inHub(value as never, now) }),
      former,
    ),
  );
}

/** Turns `expose.alexa: true` into `expose: {alexa: true}`. */
function specOf(flat: Readonly<Record<string, unknown>>): object {
  const spec: Record<string, unknown> = {};
  for (const [path, value] of Object.entries(flat)) {
    const [name = '', part] = path.split('.');
    spec[name] = part === undefined ? value : { ...(spec[name] as object), [part]: value };
  }
  return spec;
}

test('the walk covers each field of the schema', () => {
  const { properties } = definition.spec;
  const names = Object.entries(properties).flatMap(([name, field]) =>
    name === 'expose' || name === 'categories'
      ? Object.keys((field as typeof properties.expose).properties).map((each) => `${name}.${each}`)
      : [name],
  );
  expect(names.sort()).toEqual([...OTHERS, ...NOT_WALKED, ...Object.keys(fields)].sort());
});

test(`after each of ${STEPS} changes the hub has the settings of the spec, and the former ones otherwise (SEED=${seed})`, async () => {
  const random = randomNumbers();
  const oneOf = <T>(items: readonly T[]): T => items[Math.floor(random() * items.length)]!;
  await client.connection.command('config/entity_registry/update', {
    entity_id: String((await entry())['entity_id']),
    labels: ['persons'],
    aliases: [null, 'Two'],
    icon: 'mdi:former',
  });
  const former = await entry();
  const select = { unique: { integration: 'template', domain: 'sensor', uniqueId: 'walked' } };
  const spec: Record<string, unknown> = {};
  const history: string[] = [];
  for (let step = 0; step < STEPS; step++) {
    for (let change = 0; change <= Math.floor(random() * 3); change++) {
      const name = oneOf(Object.keys(fields));
      if (name in spec && random() < 0.5) delete spec[name];
      else spec[name] = oneOf(fields[name]!.values);
    }
    history.push(JSON.stringify(spec));
    if (random() < 0.15) {
      await operator.stop();
      await operator.start();
      history.push('restart');
    }
    await home.apply(entity(HUB, 'walked', { select, ...specOf(spec) }));
    await home.ready('hubentity', 'walked');
    expect({ history: history.slice(-4), entry: await entry() }).toEqual({
      history: history.slice(-4),
      entry: expected(former, spec),
    });
  }
  await home.delete('hubentity', 'walked');
  await until('the former settings are back', async () => {
    expect(await entry()).toEqual(former);
    return true;
  });
});

import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseAllDocuments, stringify } from 'yaml';
import type { RegistryFields } from '../../../operator/client/connection/api-types';
import type { HubClient } from '../../../operator/client/hub-client';
import { helperDomains, type HelperType } from '../../../operator/kinds/helper/domains';
import { freshNamespace } from '../../cluster';
import { kubectlHub } from '../../cluster/command-line';
import { configuration, DEFAULT_CONFIGURATION, helper, Home, hub } from '../../cluster/home';
import { restoreOnboarded } from '../../cluster/onboarded-volume';
import { startTestOperator } from '../../cluster/operator';

// `kubectl hub diff` and `pull` with HubHelpers, of which every field of every sort is changed in the hub once.

const HUB = 'villa';
const DAYS = ['monday', 'tuesday', 'wednesday', 'thursday', 'friday', 'saturday', 'sunday'];

interface Sort {
  /** The settings in the file. */
  readonly settings?: object;
  /** The fields of the hub after a person has changed all of them. */
  readonly inHub: RegistryFields;
  /** The names in the hub of the changed fields, apart from name and icon. */
  readonly fields: readonly string[];
  /** The settings that `pull` writes. */
  readonly pulled?: object;
}

const slot = { from: '06:00:00', to: '08:30:00' };
const slots = [slot, { from: '18:00:00', to: '24:00:00', data: { warm: true } }];

const sorts: Readonly<Record<HelperType, Sort>> = {
  boolean: {
    settings: { initial: true },
    inHub: { initial: false },
    fields: ['initial'],
    pulled: { initial: false },
  },
  button: { inHub: {}, fields: [] },
  number: {
    settings: { min: 0, max: 10 },
    inHub: {
      min: 1,
      max: 20.5,
      step: 0.5,
      mode: 'box',
      unit_of_measurement: '°C',
      device_class: 'temperature',
    },
    fields: ['device_class', 'max', 'min', 'mode', 'step', 'unit_of_measurement'],
    pulled: { min: 1, max: 20.5, step: 0.5, mode: 'box', unit: '°C', deviceClass: 'temperature' },
  },
  text: {
    settings: { max: 20, mode: 'password', initial: 'ab' },
    inHub: { min: 1, max: 30, mode: 'text', pattern: '[a-z]+', unit_of_measurement: 'x', initial: 'cd' },
    fields: ['initial', 'max', 'min', 'mode', 'pattern', 'unit_of_measurement'],
    pulled: { min: 1, max: 30, pattern: '[a-z]+', unit: 'x', initial: 'cd' },
  },
  select: {
    settings: { options: ['a', 'b'] },
    inHub: { options: ['b', 'a', 'on'], initial: 'on' },
    fields: ['initial', 'options'],
    pulled: { options: ['b', 'a', 'on'], initial: 'on' },
  },
  datetime: {
    settings: { time: true },
    inHub: { has_date: true, has_time: false, initial: '2026-12-24' },
    fields: ['has_date', 'has_time', 'initial'],
    pulled: { date: true, initial: '2026-12-24' },
  },
  counter: {
    settings: { step: 2 },
    inHub: { initial: 4, step: 3, minimum: 1, maximum: 9, restore: false },
    fields: ['initial', 'maximum', 'minimum', 'restore', 'step'],
    pulled: { initial: 4, step: 3, minimum: 1, maximum: 9, restore: false },
  },
  timer: {
    settings: { duration: '00:05:00' },
    inHub: { duration: '0:10:00', restore: true },
    fields: ['duration', 'restore'],
    pulled: { duration: '0:10:00', restore: true },
  },
  schedule: {
    settings: { monday: [{ from: '06:00', to: '08:30' }] },
    inHub: Object.fromEntries(DAYS.map((day) => [day, day === 'monday' ? slots : [slot]])),
    fields: [...DAYS].sort(),
    pulled: Object.fromEntries(DAYS.map((day) => [day, day === 'monday' ? slots : [slot]])),
  },
};
const types = Object.keys(sorts) as HelperType[];

const resources = types.map((type) => {
  const { settings } = sorts[type];
  const spec = { driftPolicy: 'Warn', name: `Old ${type}`, type, ...(settings && { [type]: settings }) };
  return helper(HUB, `my-${type}`, spec);
});

let home: Home;
let client: HubClient;
let folder: string;

beforeAll(async () => {
  home = new Home(await freshNamespace('pull-helpers'));
  folder = await mkdtemp(join(tmpdir(), 'pull-helpers-'));
  await startTestOperator(home.namespace);
  await restoreOnboarded(home, HUB);
  const sections = Object.values(helperDomains).map((domain) => `${domain}:\n`);
  await home.apply(
    hub(HUB),
    configuration(HUB, `${DEFAULT_CONFIGURATION}\n${sections.join('')}`),
    ...resources,
  );
  for (const { metadata } of resources) await home.ready('hubhelper', metadata.name);
  client = await home.client(HUB);
});
afterAll(() => rm(folder, { recursive: true }));

interface Diff {
  readonly name: string;
  readonly cluster?: { readonly action: string };
  readonly hub: { readonly action: string; readonly fields: readonly { readonly field: string }[] };
}

async function diff(path: string) {
  const { stdout, stderr, code } = await kubectlHub(home.namespace, ['diff', '-f', path, '-o', 'json']);
  return { code, stderr, diffs: (stdout === '' ? [] : JSON.parse(stdout)) as readonly Diff[] };
}

const pull = (name: string, path: string) =>
  kubectlHub(home.namespace, ['pull', `hahp/${name}`, '--write', path]);

/** Changes a helper in the hub, as its UI does: with all fields. */
const changeInHub = (type: HelperType, fields: RegistryFields) => {
  const domain = helperDomains[type];
  return client.connection.command(`${domain}/update`, { [`${domain}_id`]: `my_${type}`, ...fields });
};

test('a changed name is one line in the file, and all else stays', async () => {
  const path = join(folder, 'one.yaml');
  const text = [
    '# Coffee of the day.',
    'apiVersion: hub-operator.dev/v1',
    'kind: HubHelper',
    'metadata: { name: coffee } # the id',
    'spec:',
    '  hubRef: { name: villa }',
    '  driftPolicy: Warn',
    "  name: 'Coffee'   # shown",
    '  type: counter',
    '  counter: { step: 2, maximum: 10 } # per cup',
    '',
  ].join('\n');
  await writeFile(path, text);
  await home.apply(parseAllDocuments(text)[0]!.toJS() as (typeof resources)[number]);
  await home.ready('hubhelper', 'coffee');
  expect(await diff(path)).toEqual({ code: 0, stderr: '', diffs: [] });
  await client.connection.command('counter/update', {
    ...{ counter_id: 'coffee', name: 'Coffee cups', step: 2, maximum: 10 },
    ...{ initial: 0, minimum: null, restore: true },
  });
  await home.ready('hubhelper', 'coffee', { status: 'False', reason: 'DriftDetected' });
  expect(await pull('coffee', path)).toMatchObject({
    code: 0,
    stdout: `HubHelper coffee: name changed in ${path}\n`,
  });
  expect(await readFile(path, 'utf8')).toBe(text.replace("'Coffee'", "'Coffee cups'"));
  expect((await diff(path)).diffs).toMatchObject([
    { cluster: { action: 'update' }, hub: { action: 'none' } },
  ]);
});

test('each field of each sort is shown by diff, and copied by pull', async () => {
  const path = join(folder, 'all.yaml');
  await writeFile(path, resources.map((each) => stringify(each, { version: '1.1' })).join('---\n'));
  expect(await diff(path)).toEqual({ code: 0, stderr: '', diffs: [] });
  for (const type of types) {
    await changeInHub(type, { name: `New ${type}`, icon: 'mdi:sofa', ...sorts[type].inHub });
    await home.ready('hubhelper', `my-${type}`, { status: 'False', reason: 'DriftDetected' });
  }
  const corrected = join(folder, 'corrected.yaml');
  await writeFile(corrected, (await readFile(path, 'utf8')).replaceAll('Policy: Warn', 'Policy: Correct'));
  const shown = await diff(corrected);
  expect(shown.code).toBe(1);
  const found = shown.diffs.map(({ name, hub: { fields } }) => [
    name,
    fields.map(({ field }) => field).sort(),
  ]);
  expect(Object.fromEntries(found)).toEqual(
    Object.fromEntries(types.map((type) => [`my-${type}`, ['icon', 'name', ...sorts[type].fields].sort()])),
  );
  for (const type of types) expect(await pull(`my-${type}`, path)).toMatchObject({ code: 0, stderr: '' });
  const written = parseAllDocuments(await readFile(path, 'utf8')).map(
    (document) => (document.toJS() as { spec: Record<string, unknown> }).spec,
  );
  expect(written).toEqual(
    types.map((type) => {
      const { pulled } = sorts[type];
      const common = {
        hubRef: { name: HUB },
        driftPolicy: 'Warn',
        type,
        name: `New ${type}`,
        icon: 'mdi:sofa',
      };
      return { ...common, ...(pulled && { [type]: pulled }) };
    }),
  );
  expect((await diff(path)).diffs.map(({ hub: { action } }) => action)).toEqual(types.map(() => 'none'));
  await home.apply(...written.map((spec, index) => ({ ...resources[index]!, spec })));
  for (const { metadata } of resources) await home.ready('hubhelper', metadata.name);
  expect(await diff(path)).toEqual({ code: 0, stderr: '', diffs: [] });
});

test('diff shows a helper that the operator refuses, and one that it creates', async () => {
  const path = join(folder, 'refused.yaml');
  const lost = helper(HUB, 'my-datetime', {
    name: 'Old',
    type: 'datetime',
    datetime: { date: true, initial: '2026-02-30' },
  });
  await writeFile(path, stringify(lost, { version: '1.1' }));
  expect((await diff(path)).diffs).toMatchObject([
    { name: 'my-datetime', hub: { action: 'refused', fields: [] } },
  ]);
  await writeFile(
    path,
    stringify(helper(HUB, 'fresh', { name: 'Fresh', type: 'boolean' }), { version: '1.1' }),
  );
  expect((await diff(path)).diffs).toMatchObject([{ name: 'fresh', hub: { action: 'create' } }]);
});

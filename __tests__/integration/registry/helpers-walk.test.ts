import type { RegistryRecord } from '../../../operator/client/connection/api-types';
import { HubClient } from '../../../operator/client/hub-client';
import { systemClock } from '../../../operator/base/clock';
import { helper as definition } from '../../../operator/kinds';
import { helperDomains, type HelperType } from '../../../operator/kinds/helper/domains';
import { freshNamespace, until } from '../../cluster';
import { Refused } from '../../cluster/api';
import { helper, Home } from '../../cluster/home';
import { HubRecorder } from '../../cluster/hub-recorder';
import { HubToExport } from '../../cluster/hub-to-export';
import { startTestOperator } from '../../cluster/operator';
import { silentLog } from '../../cluster/silent-log';
import { randomNumbers, seed } from '../../seed';
import { hasDeviceClass } from './device-class';

// A random walk over the schema of HubHelper. Fields of each sort are set, changed and cleared in any order. After each
// step the hub has the settings of the spec, and a further reconcile writes nothing.

const STEPS = 8;

let home: Home;
let villa: HubToExport;
let recorder: HubRecorder;
let client: HubClient;

beforeAll(async () => {
  home = new Home(await freshNamespace('helpers-walk'));
  await startTestOperator(home.namespace, { settings: { ALLOW_LOCAL_HUBS: 'true' } });
  const domains = Object.values(helperDomains).map((domain) => `${domain}:\n`);
  villa = await HubToExport.start({}, `\n${domains.join('')}`);
  recorder = await HubRecorder.start(villa.process.url);
  client = new HubClient({ url: villa.process.url, token: villa.token, clock: systemClock, log: silentLog });
  await villa.join(home, recorder.url);
});
afterAll(async () => {
  client?.close();
  await recorder?.stop();
  await villa?.dispose();
});

const slots = [
  [],
  [{ from: '06:00', to: '18:00:30' }],
  [
    { from: '18:00', to: '24:00', data: { warm: true, level: 2.5, text: 'on' } },
    { from: '06:00', to: '18:00' },
  ],
];

/** Values of the fields of each sort. */
const values: Readonly<Record<HelperType, Readonly<Record<string, readonly unknown[]>>>> = {
  boolean: { initial: [true, false] },
  button: {},
  number: {
    min: [-5, 0],
    max: [10, 30.5],
    step: [0.5, 0.001, 2],
    mode: ['slider', 'box'],
    unit: ['°C', '%'],
    deviceClass: hasDeviceClass ? ['temperature'] : [],
  },
  text: {
    min: [0, 2],
    max: [5, 255],
    pattern: ['[a-zäöü]*', 'a{2,5}|b+'],
    mode: ['text', 'password'],
    unit: ['g'],
    initial: ['ab', 'aaa'],
  },
  select: { options: [['on', 'zwei'], ['zwei'], ['', 'zwei', 'null']], initial: ['zwei', 'on'] },
  datetime: {
    date: [true, false],
    time: [true, false],
    initial: ['2026-12-24 18:00', '2026-12-24', '18:00:30', '06:05'],
  },
  counter: { initial: [0, 3], step: [0, 2], minimum: [-1, 1], maximum: [3, 9], restore: [true, false] },
  timer: { duration: ['0:05:00', '00:00:30', '127:00:00'], restore: [true, false] },
  schedule: Object.fromEntries(
    ['monday', 'tuesday', 'wednesday', 'thursday', 'friday', 'saturday', 'sunday'].map((day) => [day, slots]),
  ),
};

/** Names of the hub for fields that have other ones there. */
const NAMES: Readonly<Record<string, string>> = {
  unit: 'unit_of_measurement',
  deviceClass: 'device_class',
  date: 'has_date',
  time: 'has_time',
};

const seconds = (time: string): string => (time.length === 5 ? `${time}:00` : time);

type Slot = (typeof slots)[number][number];

/** A value as the hub shows it. */
function inHub(field: string, value: unknown): unknown {
  if (field === 'duration') return String(value).replace(/^0+(?=\d)/, '');
  if (field === 'initial' && /:\d\d$/.test(String(value)))
    return String(value).replace(/(^| )\d\d:\d\d$/, (time) => `${time}:00`);
  if (!Array.isArray(value) || field === 'options') return value;
  return (value as Slot[])
    .map((slot) => ({ ...slot, from: seconds(slot.from), to: seconds(slot.to) }))
    .sort((a, b) => (a.from < b.from ? -1 : 1));
}

test('the walk knows each field of each sort', () => {
  const { properties } = definition.spec;
  for (const [type, fields] of Object.entries(values)) {
    const member = (properties as Readonly<Record<string, { properties?: object } | undefined>>)[type];
    expect({ type, fields: Object.keys(member?.properties ?? {}) }).toEqual({
      type,
      fields: Object.keys(fields),
    });
  }
});

async function item(type: HelperType): Promise<RegistryRecord> {
  const list: readonly RegistryRecord[] = await client.connection.command(`${helperDomains[type]}/list`);
  expect(list).toHaveLength(1);
  return list[0]!;
}

const random = randomNumbers();
const oneOf = <T>(items: readonly T[]): T => items[Math.floor(random() * items.length)]!;

/** Some of the fields, each with one of its values. */
const draw = (fields: Readonly<Record<string, readonly unknown[]>>): Readonly<Record<string, unknown>> =>
  Object.fromEntries(
    Object.entries(fields)
      .filter(([, some]) => some.length > 0 && random() < 0.6)
      .map(([name, some]) => [name, oneOf(some)]),
  );

/** @returns false if the API server refuses the spec */
async function applied(type: HelperType, spec: object): Promise<boolean> {
  try {
    await home.apply(helper('villa', type, { type, ...spec }));
    return true;
  } catch (error) {
    if (error instanceof Refused && error.status === 422) return false;
    throw error;
  }
}

/** @returns false if the operator refuses the spec, also because of the present value of a text */
async function settled(type: HelperType): Promise<boolean> {
  const { status } = await until(`${type} is settled`, async () => {
    const ready = await home.condition('hubhelper', type);
    const isRefused = ready?.reason === 'InvalidSpec' || ready?.message.includes('the present value of ');
    if (ready?.status === 'True' || isRefused) return ready;
    throw new Error(ready ? `${ready.reason}: ${ready.message}` : 'no condition yet');
  });
  return status === 'True';
}

test.each(Object.keys(values) as HelperType[])(
  `%s: the hub has each spec, and it is written once (SEED=${seed})`,
  async (type) => {
    let accepted = 0;
    for (let step = 0; step < STEPS * 5 && accepted < STEPS; step++) {
      const member = draw(values[type]);
      const icon = random() < 0.5 ? { icon: oneOf(['mdi:sheep', 'mdi:grass']) } : {};
      const name = oneOf(['Größe', 'a: "b"']);
      const spec = { name, ...icon, ...(type !== 'button' && { [type]: member }) };
      recorder.sent.length = 0;
      if (!(await applied(type, spec)) || !(await settled(type))) continue;
      accepted += 1;
      const actual = await item(type);
      const expected = Object.entries(member).map(([field, value]) => [
        NAMES[field] ?? field,
        inHub(field, value),
      ]);
      expect({ spec, actual }).toMatchObject({
        spec,
        actual: { name, ...icon, ...Object.fromEntries(expected) },
      });
      const cleared = ['icon', ...Object.keys(values[type])].filter(
        (field) => !(field in member) && !(field in icon),
      );
      for (const field of cleared)
        expect({ spec, [field]: isDefault(type, field, actual) }).toEqual({ spec, [field]: true });
      expect(recorder.changes().length).toBeLessThanOrEqual(2);
      recorder.sent.length = 0;
      const at = `${type}-${step}`;
      await home.annotate('hubhelper', type, `hub-operator.dev/reconcile-requested-at=${at}`);
      await until(`${at} is looked at`, async () => {
        const { status } = await home.get('hubhelper', type);
        return status?.['lastHandledReconcileAt'] === at;
      });
      expect({ spec, sent: recorder.changes() }).toEqual({ spec, sent: [] });
    }
    expect(accepted).toBeGreaterThan(STEPS / 2);
  },
);

/** The values of absent fields. */
const DEFAULTS: Readonly<Record<string, readonly unknown[]>> = {
  step: [1],
  'number.mode': ['slider'],
  'text.mode': ['text'],
  'text.min': [0],
  'text.max': [100],
  'counter.initial': [0],
  'counter.restore': [true],
  'timer.restore': [false],
  duration: ['0:00:00', 0],
  date: [false],
  time: [false],
};

function isDefault(type: HelperType, field: string, actual: RegistryRecord): boolean {
  const value = actual[NAMES[field] ?? field];
  const defaults = DEFAULTS[`${type}.${field}`] ?? DEFAULTS[field] ?? [];
  const isEmpty = value === undefined || value === null || (Array.isArray(value) && value.length === 0);
  return isEmpty || defaults.includes(value);
}

import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parse } from 'yaml';
import type { RegistryFields } from '../../../operator/client/connection/api-types';
import type { HubClient } from '../../../operator/client/hub-client';
import { helperDomains, type HelperType } from '../../../operator/kinds/helper/domains';
import { freshNamespace, until } from '../../cluster';
import { kubectlHub } from '../../cluster/command-line';
import { DEFAULT_CONFIGURATION, helper, Home } from '../../cluster/home';
import type { HubRecorder } from '../../cluster/hub-recorder';
import { OperatorToKill } from '../../cluster/operator-to-kill';
import { hasDeviceClass } from './device-class';

// Helpers of all sorts in a hub in German: each is written once, and none twice when the operator is killed at a request.

const HUB = 'villa';
const HELPERS = 100;
const EXPORTED = 200;

const types = Object.keys(helperDomains) as HelperType[];
const TEXT = `${DEFAULT_CONFIGURATION}\n${Object.values(helperDomains)
  .map((domain) => `${domain}:\n`)
  .join('')}`;

const settings: Partial<Record<HelperType, object>> = {
  number: { min: 0, max: 30, step: 0.5, unit: '°C', ...(hasDeviceClass && { deviceClass: 'temperature' }) },
  text: { pattern: '[0-9]{4}', mode: 'password' },
  select: { options: ['zu Hause', 'unterwegs'] },
  datetime: { time: true, initial: '06:30' },
  counter: { minimum: 0, maximum: 10 },
  timer: { duration: '0:10:00' },
  schedule: { monday: [{ from: '06:00', to: '24:00', data: { soll: 21 } }] },
};

let home: Home;
let victim: OperatorToKill;
let recorder: HubRecorder;
let client: HubClient;

beforeAll(async () => {
  home = new Home(await freshNamespace('many-helpers'));
  victim = await OperatorToKill.start(home, HUB, TEXT, {
    resources: ['/hubhelpers/struck'],
    statusPoint: ({ id, pendingName }) => (id ? 'status id' : pendingName ? 'status pendingName' : 'status'),
    isPoint: (command) => /^input_text\/(create|update|delete)$/.test(command),
  });
  ({ recorder } = victim);
  client = await home.client(HUB);
  await client.connection.command('config/core/update', { language: 'de' });
});

afterAll(() => victim?.stop());

test('each of 100 helpers is written once, one with another id twice, and none after a restart', async () => {
  const { length } = await client.connection.command('system_log/list');
  const resources = Array.from({ length: HELPERS }, (_, index) => {
    const type = types[index % types.length]!;
    const isRenamed = index >= HELPERS / 2;
    const given = settings[type];
    return helper(HUB, isRenamed ? `anders-${index}` : `hilfe-${index}`, {
      name: `Hilfe ${index}`,
      type,
      ...(given && { [type]: given }),
    });
  });
  recorder.sent.length = 0;
  await Promise.all(resources.map((resource) => home.apply(resource)));
  for (const { metadata } of resources) await home.ready('hubhelper', metadata.name);
  const writes = recorder.changes();
  expect(writes.filter((what) => what.endsWith('/create'))).toHaveLength(HELPERS);
  expect(writes.filter((what) => what.endsWith('/update'))).toHaveLength(HELPERS / 2);
  expect(writes).toHaveLength(HELPERS * 1.5);
  expect(await client.connection.command('system_log/list')).toHaveLength(length);

  recorder.sent.length = 0;
  await victim.operator.calm();
  await victim.operator.stop();
  await victim.operator.start();
  for (const { metadata } of resources)
    await home.annotate('hubhelper', metadata.name, 'hub-operator.dev/reconcile-requested-at=1');
  for (const { metadata } of resources)
    await until(`${metadata.name} was looked at`, async () => {
      const { status } = await home.get('hubhelper', metadata.name);
      return status?.['lastHandledReconcileAt'] === '1';
    });
  expect(recorder.changes()).toEqual([]);
});

test('200 helpers that the UI made are exported twice alike, and applied without a write', async () => {
  const fields: Partial<Record<HelperType, RegistryFields>> = {
    number: { min: 0, max: 10 },
    select: { options: ['b', 'a'] },
    datetime: { has_date: true },
    schedule: { friday: [{ from: '08:00', to: '24:00' }] },
  };
  for (let index = 0; index < EXPORTED; index++) {
    const type = types[index % types.length]!;
    const name = index % 2 === 0 ? `Küche ${index}` : 'Lampe';
    await client.connection.command(`${helperDomains[type]}/create`, { name, ...fields[type] });
  }
  const folder = await mkdtemp(join(tmpdir(), 'helpers-'));
  try {
    const exported = async (name: string) => {
      const to = join(folder, name);
      const args = ['export', `--hub=${HUB}`, `--to=${to}`];
      expect(await kubectlHub(home.namespace, args)).toMatchObject({ code: 0 });
      const files = (await readdir(join(to, 'helpers'))).sort();
      return Promise.all(
        files.map(async (file) => [file, await readFile(join(to, 'helpers', file), 'utf8')]),
      );
    };
    const first = await exported('first');
    expect(await exported('second')).toEqual(first);
    expect(first.length).toBe(EXPORTED + HELPERS);
    const resources = first
      .map(([, text]) => parse(text!) as ReturnType<typeof helper>)
      .filter(({ spec }) => !/^Hilfe/.test((spec as { name: string }).name));
    expect(resources).toHaveLength(EXPORTED);
    recorder.sent.length = 0;
    await Promise.all(resources.map((resource) => home.apply(resource)));
    for (const { metadata } of resources) await home.ready('hubhelper', metadata.name);
    expect(recorder.changes()).toEqual([]);
  } finally {
    await rm(folder, { recursive: true });
  }
});

const points = ['status pendingName', 'input_text/create', 'input_text/update', 'status id'];

test.each(points.flatMap((at) => [false, true].map((isSent) => [at, isSent] as const)))(
  'killed at %s, sent: %s: there is one helper with its name',
  async (at, isSent) => {
    await victim.killAt(at, isSent, () =>
      home.apply(helper(HUB, 'struck', { name: 'Tür', type: 'text', text: { max: 4 } })),
    );
    await home.ready('hubhelper', 'struck');
    const all = await client.connection.command('input_text/list');
    const found = all.filter(
      (each) => /^(T[uü]r|struck)/.test(`${each.name}`) || String(each['id']).startsWith('struck'),
    );
    expect(found).toMatchObject([{ id: 'struck', name: 'Tür', max: 4 }]);
    await home.delete('hubhelper', 'struck');
    for (const each of await client.connection.command('input_text/list'))
      if (each['id'] === 'struck')
        await client.connection.command('input_text/delete', { input_text_id: 'struck' });
  },
);

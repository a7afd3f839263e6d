import type { HubClient } from '../../../operator/client/hub-client';
import { freshNamespace, until } from '../../cluster';
import { automation, DEFAULT_CONFIGURATION, entity, Home, label } from '../../cluster/home';
import type { HubRecorder } from '../../cluster/hub-recorder';
import { OperatorToKill } from '../../cluster/operator-to-kill';

// kill -9 of the operator at each request in the life of one HubEntity, and of the settings of an automation:
// nothing is written twice, `previous` is right, and a label that a user added is never lost.

const HUB = 'villa';
const MOWER = 'lawn_mower.mower_can_mow';

let home: Home;
let victim: OperatorToKill;
let recorder: HubRecorder;
let client: HubClient;

beforeAll(async () => {
  home = new Home(await freshNamespace('settings-crash'));
  victim = await OperatorToKill.start(home, HUB, `${DEFAULT_CONFIGURATION}\nkitchen_sink:\n`, {
    resources: ['/hubentities/mower', '/hubautomations/hall-off'],
    statusPoint: ({ previous, appliedHash, automationId, settingsHash }) => {
      const isWritten = automationId ? settingsHash : appliedHash;
      return isWritten ? 'status Ready' : previous ? 'status previous' : 'status';
    },
    isPoint: (command) =>
      command === 'config/entity_registry/update' || command === 'homeassistant/expose_entity',
  });
  ({ recorder } = victim);
  await home.apply(label(HUB, 'energy', { name: 'Energy' }), label(HUB, 'persons', { name: 'Persons' }));
  await home.ready('hublabel', 'persons');
  client = await home.client(HUB);
  await until('the hub has the entity', async () => (await mower()) !== undefined);
  await client.connection.command('config/entity_registry/update', {
    entity_id: MOWER,
    name: 'Former',
    labels: ['persons'],
  });
});

afterAll(() => victim?.stop());

async function mower() {
  const { all } = await client.settings.entity.entries();
  return [...all].find(({ entityId }) => entityId === MOWER)?.settings;
}

const writesOf = (command: string) => recorder.sent.filter((each) => each === `command ${command}`);

const points = [
  'status previous',
  'config/entity_registry/update',
  'homeassistant/expose_entity',
  'status Ready',
];
const cuts = points.flatMap((at) => [false, true].map((isSent) => [at, isSent] as const));

test.each(cuts)(
  'killed at %s, sent: %s: the settings arrive, and the former ones are recorded',
  async (at, isSent) => {
    recorder.sent.length = 0;
    await victim.killAt(at, isSent, () =>
      home.apply(
        entity(HUB, 'mower', {
          select: { entityId: MOWER },
          name: 'Shaun',
          labels: ['Energy'],
          expose: { alexa: true },
        }),
      ),
    );
    await home.ready('hubentity', 'mower');
    const settings = (await mower())!;
    expect(settings).toMatchObject({ name: 'Shaun', 'expose.alexa': true });
    expect([...(settings['labels'] as string[])].sort()).toEqual(['energy', 'persons']);
    expect((await home.get('hubentity', 'mower')).status!['previous']).toEqual({
      name: { was: 'Former', ours: ['Shaun'] },
      labels: { was: [], ours: ['energy'] },
      'expose.alexa': { ours: [true] },
    });
    const isRepeated = at === 'config/entity_registry/update' && !isSent;
    expect(writesOf('config/entity_registry/update')).toHaveLength(isRepeated ? 2 : 1);
    await home.delete('hubentity', 'mower');
    expect(await mower()).toMatchObject({ name: 'Former', labels: ['persons'], 'expose.alexa': null });
  },
);

test.each([
  ['config/entity_registry/update', false],
  ['config/entity_registry/update', true],
  ['PATCH resource', false],
  ['PATCH resource', true],
] as const)(
  'killed at the deletion at %s, sent: %s: the former settings are restored',
  async (at, isSent) => {
    await home.apply(
      entity(HUB, 'mower', { select: { entityId: MOWER }, name: 'Shaun', labels: ['Energy'] }),
    );
    await home.ready('hubentity', 'mower');
    await victim.killAt(at, isSent, () => home.delete('hubentity', 'mower', { wait: false }));
    await until('it is gone', async () => !(await home.exists('hubentity', 'mower')));
    expect(await mower()).toMatchObject({ name: 'Former', labels: ['persons'] });
  },
);

describe('settings of the entity of an adopted automation', () => {
  const ID = 'hall_off';
  const HALL_OFF = 'automation.hall_off';
  const hallOff = () =>
    automation(HUB, 'hall-off', {
      hubId: ID,
      alias: 'Hall off',
      entity: { icon: 'mdi:new', labels: ['Energy'] },
    });
  const settingsOf = async () =>
    [...(await client.settings.entity.entries()).all].find(({ entityId }) => entityId === HALL_OFF)?.settings;

  beforeAll(async () => {
    await home.change('hub', HUB, { markManaged: false });
    await home.ready('hub', HUB);
    const { triggers, actions } = automation(HUB, 'hall-off').spec;
    await client.entities.write('automation', ID, () => ({
      alias: 'Hall off',
      triggers,
      conditions: [],
      actions,
    }));
    await until('the hub has loaded it', () => client.entityRegistry.findNow('automation', ID));
    await client.connection.command('config/entity_registry/update', {
      entity_id: HALL_OFF,
      icon: 'mdi:old',
      labels: ['persons'],
    });
  });

  test.each([
    ['status previous', false],
    ['status previous', true],
    ['config/entity_registry/update', false],
    ['config/entity_registry/update', true],
    ['status Ready', false],
  ] as const)('killed at %s, sent: %s: the former settings are known', async (at, isSent) => {
    recorder.sent.length = 0;
    await victim.killAt(at, isSent, () => home.apply(hallOff()));
    await home.ready('hubautomation', 'hall-off');
    expect(await settingsOf()).toMatchObject({ icon: 'mdi:new' });
    expect((await home.get('hubautomation', 'hall-off')).status).toMatchObject({
      adopted: true,
      previous: { icon: { was: 'mdi:old', ours: ['mdi:new'] }, labels: { was: [], ours: ['energy'] } },
    });
    const isRepeated = at === 'config/entity_registry/update' && !isSent;
    expect(writesOf('config/entity_registry/update')).toHaveLength(isRepeated ? 2 : 1);
    await home.delete('hubautomation', 'hall-off');
    expect(await settingsOf()).toMatchObject({ icon: 'mdi:old', labels: ['persons'] });
  });

  test.each([[false], [true]])('killed at the deletion, sent: %s: they are put back', async (isSent) => {
    await home.apply(hallOff());
    await home.ready('hubautomation', 'hall-off');
    await victim.killAt('config/entity_registry/update', isSent, () =>
      home.delete('hubautomation', 'hall-off', { wait: false }),
    );
    await until('it is gone', async () => !(await home.exists('hubautomation', 'hall-off')));
    expect(await settingsOf()).toMatchObject({ icon: 'mdi:old', labels: ['persons'] });
  });
});

import type { HubClient } from '../../../operator/client/hub-client';
import type { Settings } from '../../../operator/client/registries/settings';
import { freshNamespace, until } from '../../cluster';
import { outliveCreation } from '../../cluster/creation-time';
import {
  area,
  automation,
  configuration,
  entity as entityResource,
  Home,
  hub,
  label,
  type Manifest,
  scene,
  script,
} from '../../cluster/home';
import type { HubRecorder } from '../../cluster/hub-recorder';
import { recorderOf, throughRecorders } from '../../cluster/recorded-hub';
import { restoreOnboarded } from '../../cluster/onboarded-volume';
import { startTestOperator, type TestOperator } from '../../cluster/operator';

// `spec.entity` of automations, scenes and scripts: their entities get an area, labels and other settings,
// separately from the definition.

const UPDATE = 'command config/entity_registry/update';

let home: Home;
let operator: TestOperator;

beforeAll(async () => {
  home = new Home(await freshNamespace('own-entity'));
  operator = await startTestOperator(home.namespace, { settings: throughRecorders });
});

describe.each([
  ['villa', 'Api'],
  ['cabin', 'File'],
] as const)('entities of objects that %s gets by %s', (HUB, delivery) => {
  let client: HubClient;
  let recorder: HubRecorder;

  beforeAll(async () => {
    await restoreOnboarded(home, HUB);
    await home.apply(hub(HUB, { delivery }), configuration(HUB));
    recorder = await recorderOf(home, HUB);
    await home.ready('hub', HUB);
    client = await home.client(HUB);
    await home.apply(
      area(HUB, `${HUB}-hall`, { name: 'Hall' }),
      label(HUB, `${HUB}-energy`, { name: 'Energy' }),
      label(HUB, `${HUB}-persons`, { name: 'Persons' }),
    );
    await home.ready('hublabel', `${HUB}-persons`);
    await home.ready('hubarea', `${HUB}-hall`);
  });

  afterAll(() => recorder?.stop());

  const name = (text: string) => `${HUB}-${text}`;
  const kindOf = ({ kind }: Manifest) => kind.toLowerCase();
  const statusOf = async (resource: Manifest) =>
    (await home.get(kindOf(resource), resource.metadata.name)).status!;
  const entityIdOf = async (resource: Manifest) => String((await statusOf(resource))['entityId']);

  async function settingsOf(entityId: string): Promise<Settings> {
    const { all } = await client.settings.entity.entries();
    const found = [...all].find((each) => each.entityId === entityId);
    if (!found) throw new Error(`the hub has no entity ${entityId}`);
    return found.settings;
  }

  /** Returns the names of the labels, without the operator's own labels. */
  async function labelsOf(entityId: string): Promise<readonly string[]> {
    const names = await client.registries.label.entries();
    const all = (await settingsOf(entityId))['labels'] as readonly string[];
    return all
      .map((id) => names.get(id)!.name)
      .filter((each) => !each.endsWith('Hub Operator'))
      .sort();
  }

  async function isMarked(entityId: string): Promise<boolean> {
    const id = await client.labels.find('Managed by Hub Operator');
    return ((await settingsOf(entityId))['labels'] as readonly string[]).includes(id!);
  }

  async function becomes(entityId: string, settings: object): Promise<void> {
    await until(`${entityId} is ${JSON.stringify(settings)}`, async () => {
      expect(await settingsOf(entityId)).toMatchObject(settings);
      return true;
    });
  }

  /** Changes an entity like a user in the hub's UI. */
  const change = (entityId: string, fields: object) =>
    client.connection.command('config/entity_registry/update', { entity_id: entityId, ...fields });

  const entity = {
    areaName: 'Hall',
    labels: ['Energy'],
    aliases: ['The one'],
    icon: 'mdi:sheep',
    hidden: true,
    expose: { alexa: true },
  };

  test('the settings are written for automations, scenes and scripts, and a restart writes nothing', async () => {
    const all = [
      automation(HUB, name('morning'), { entity }),
      scene(HUB, name('movie'), { entity }),
      script(HUB, name('night'), { entity }),
    ];
    await home.apply(...all);
    for (const each of all) await home.ready(kindOf(each), each.metadata.name);
    for (const each of all) {
      const entityId = await entityIdOf(each);
      expect(await settingsOf(entityId)).toMatchObject({
        areaName: 'hall',
        icon: 'mdi:sheep',
        hidden: true,
        aliases: ['The one'],
        'expose.alexa': true,
      });
      expect(await labelsOf(entityId)).toEqual(['Energy']);
      expect(await isMarked(entityId)).toBe(true);
      expect(await statusOf(each)).toMatchObject({
        registryId: expect.any(String),
        settingsHash: expect.stringContaining('sha256:'),
        previous: {
          areaName: { ours: ['hall'] },
          labels: { was: [], ours: ['energy'] },
          hidden: { was: false, ours: [true] },
        },
      });
    }
    await operator.calm();
    const before = await Promise.all(all.map((each) => home.get(kindOf(each), each.metadata.name)));
    await operator.stop();
    recorder.sent.length = 0;
    await operator.start();
    for (const each of all) {
      await home.annotate(kindOf(each), each.metadata.name, 'hub-operator.dev/reconcile-requested-at=1');
      await until(`${each.metadata.name} was looked at`, async () => {
        return (await statusOf(each))['lastHandledReconcileAt'] === '1';
      });
    }
    expect(recorder.changes()).toEqual([]);
    for (const [index, each] of all.entries()) {
      const { status } = before[index]!;
      expect(await statusOf(each)).toMatchObject({
        registryId: status!['registryId'],
        previous: status!['previous'],
      });
    }
  });

  test('an automation without settings sends no settings, and its status has no record', async () => {
    const plain = automation(HUB, name('plain'));
    recorder.sent.length = 0;
    await home.apply(plain);
    await home.ready('hubautomation', plain.metadata.name);
    const entityId = await entityIdOf(plain);
    const updates = recorder.sent.filter((what) => what === UPDATE);
    expect(updates).toHaveLength(1); // that of the operator's own label
    expect(await isMarked(entityId)).toBe(true);
    for (const field of ['registryId', 'previous', 'settingsHash'])
      expect(await statusOf(plain)).not.toHaveProperty(field);
  });

  test('an automation runs although its area is missing, and the settings are written when the area exists', async () => {
    const late = automation(HUB, name('late'), { entity: { areaName: 'Attic', labels: ['Energy'] } });
    await home.apply(late);
    const { message } = await home.ready('hubautomation', late.metadata.name, {
      status: 'False',
      reason: 'AreaNotFound',
    });
    expect(message).toContain('“Attic” in entity.areaName');
    const entityId = await entityIdOf(late);
    expect((await client.rest.get<{ state: string }>(`/api/states/${entityId}`)).state).toBe('on');
    expect(await labelsOf(entityId)).toEqual([]);
    await home.apply(area(HUB, name('attic'), { name: 'Attic' }));
    await home.ready('hubautomation', late.metadata.name);
    await becomes(entityId, { areaName: 'attic' });
    expect(await labelsOf(entityId)).toEqual(['Energy']);
  });

  test('a change in the hub is reverted, additions of others stay, and with Warn the change stays', async () => {
    const dusk = automation(HUB, name('dusk'), { entity });
    await home.apply(dusk);
    await home.ready('hubautomation', dusk.metadata.name);
    const entityId = await entityIdOf(dusk);
    const { labels } = await settingsOf(entityId);
    await change(entityId, { icon: 'mdi:cow', name: 'Mine', labels: [...(labels as string[]), 'persons'] });
    await becomes(entityId, { icon: 'mdi:sheep', name: 'Mine' });
    expect(await labelsOf(entityId)).toEqual(['Energy', 'Persons']);
    await home.event(
      'HubAutomation',
      dusk.metadata.name,
      /^Warning DriftDetected: .*icon: hub has "mdi:cow", resource says "mdi:sheep"/,
    );
    await home.change('hubautomation', dusk.metadata.name, { driftPolicy: 'Warn' });
    await home.ready('hubautomation', dusk.metadata.name);
    await change(entityId, { icon: 'mdi:cow' });
    await home.ready('hubautomation', dusk.metadata.name, { status: 'False', reason: 'DriftDetected' });
    expect(await settingsOf(entityId)).toMatchObject({ icon: 'mdi:cow' });
    await home.change('hubautomation', dusk.metadata.name, { driftPolicy: 'Correct' });
    await becomes(entityId, { icon: 'mdi:sheep' });
    await home.ready('hubautomation', dusk.metadata.name);
  });

  test('settings that are removed from the spec get their former values back; without settings the record is removed', async () => {
    const noon = automation(HUB, name('noon'));
    await home.apply(noon);
    await home.ready('hubautomation', noon.metadata.name);
    const entityId = await entityIdOf(noon);
    await change(entityId, { icon: 'mdi:cow', aliases: [null, 'Bert'] });
    await home.change('hubautomation', noon.metadata.name, { entity });
    await home.ready('hubautomation', noon.metadata.name);
    // A hub of 2025.11 has no order of aliases.
    const aliases: unknown = expect.arrayContaining(['Bert', 'The one']);
    await becomes(entityId, { icon: 'mdi:sheep', aliases, areaName: 'hall' });
    await home.change('hubautomation', noon.metadata.name, { entity: { icon: null, labels: null } });
    await home.ready('hubautomation', noon.metadata.name);
    expect(await settingsOf(entityId)).toMatchObject({ icon: 'mdi:cow', areaName: 'hall' });
    expect(await labelsOf(entityId)).toEqual([]);
    await home.change('hubautomation', noon.metadata.name, { entity: null });
    await home.ready('hubautomation', noon.metadata.name);
    expect(await settingsOf(entityId)).toMatchObject({
      icon: 'mdi:cow',
      aliases: ['Bert'],
      areaName: null,
      hidden: false,
    });
    expect(await isMarked(entityId)).toBe(true);
    for (const field of ['registryId', 'previous', 'settingsHash'])
      expect(await statusOf(noon)).not.toHaveProperty(field);
  });

  test.each([
    ['gets its former settings back', undefined, { icon: 'mdi:cow', areaName: null, hidden: false }],
    ['keeps them with Orphan', 'Orphan', { icon: 'mdi:sheep', areaName: 'hall', hidden: true }],
  ])('an adopted automation that stays in the hub %s', async (_, deletionPolicy, settings) => {
    const id = name(`adopted-${deletionPolicy ?? 'back'}`).toLowerCase();
    const { alias, triggers, actions } = automation(HUB, id).spec;
    await client.entities.write('automation', id, () => ({ alias, triggers, actions, conditions: [] }));
    const found = await until('the hub has loaded it', () => client.entityRegistry.findNow('automation', id));
    const { entity_id: entityId } = found;
    await change(entityId, { icon: 'mdi:cow', labels: ['persons'] });
    const adopted = automation(HUB, id, { hubId: id, entity, ...(deletionPolicy && { deletionPolicy }) });
    await home.apply(adopted);
    await home.ready('hubautomation', id);
    expect(await statusOf(adopted)).toMatchObject({ adopted: true, previous: { icon: { was: 'mdi:cow' } } });
    expect(await labelsOf(entityId)).toEqual(['Energy', 'Persons']);
    await home.delete('hubautomation', id);
    expect(await settingsOf(entityId)).toMatchObject(settings);
    expect(await labelsOf(entityId)).toEqual(deletionPolicy ? ['Energy', 'Persons'] : ['Persons']);
    expect(await isMarked(entityId)).toBe(false);
  });

  test('a resource that is renamed in Git transfers the record, and nothing is written to the hub', async () => {
    const [former, next] = ['old-name', 'new-name'].map((each) =>
      automation(HUB, name(each), { id: `${HUB}_one`, alias: 'One', actions: [], entity }),
    ) as [Manifest, Manifest];
    await home.apply(former);
    await home.ready('hubautomation', former.metadata.name);
    const { registryId, previous } = await statusOf(former);
    await outliveCreation(home, 'hubautomation', former.metadata.name);
    await home.apply(next);
    await home.ready('hubautomation', next.metadata.name, { status: 'False', reason: 'DuplicateId' });
    recorder.sent.length = 0;
    await home.delete('hubautomation', former.metadata.name);
    await home.ready('hubautomation', next.metadata.name);
    expect(recorder.sent.filter((what) => what === UPDATE)).toEqual([]);
    expect(await statusOf(next)).toMatchObject({ registryId, previous });
  });

  test('a category is created once for all resources that name it, in any case, and found by its name later', async () => {
    const many = ['Night', 'night', 'NIGHT'].map((category, index) =>
      automation(HUB, name(`night-${index}`), { entity: { category } }),
    );
    const moved = scene(HUB, name('night'), { entity: { category: 'Night' } });
    recorder.sent.length = 0;
    await home.apply(...many, moved);
    for (const each of [...many, moved]) await home.ready(kindOf(each), each.metadata.name);
    const made = recorder.sent.filter((what) => what === 'command config/category_registry/create');
    expect(made).toHaveLength(2); // one for automations and one for scenes
    const [first, second, third] = await Promise.all(
      many.map(async (each) => (await settingsOf(await entityIdOf(each)))['categories.automation']),
    );
    expect([second, third]).toEqual([first, first]);
    expect((await client.categories.entries('automation')).get(String(first))).toMatch(/^night$/i);
    const [one] = many as [Manifest];
    const entityId = await entityIdOf(one);
    await change(entityId, { categories: { automation: null } });
    await becomes(entityId, { 'categories.automation': first });
    await home.change('hubautomation', one.metadata.name, { entity: null });
    await home.ready('hubautomation', one.metadata.name);
    expect(await settingsOf(entityId)).not.toHaveProperty('categories.automation');
  });

  test('a HubEntity for an entity of a HubAutomation reports where the settings belong, and its deletion leaves them', async () => {
    const made = automation(HUB, name('made'), { entity: { icon: 'mdi:sheep' } });
    await home.apply(made);
    await home.ready('hubautomation', made.metadata.name);
    const entityId = await entityIdOf(made);
    await home.apply(entityResource(HUB, name('double'), { select: { entityId }, hidden: true }));
    const { message } = await home.ready('hubentity', name('double'), {
      status: 'False',
      reason: 'DuplicateId',
    });
    expect(message).toContain(`set entity in the HubAutomation ${made.metadata.name}`);
    expect(await settingsOf(entityId)).toMatchObject({ hidden: false, icon: 'mdi:sheep' });
    await home.delete('hubentity', name('double'));
    expect(await settingsOf(entityId)).toMatchObject({ icon: 'mdi:sheep' });
  });

  test('a label of the operator itself is refused, since the operator alone assigns it', async () => {
    const own = automation(HUB, name('own'), { entity: { labels: ['managed by hub operator'] } });
    await home.apply(own);
    const { message } = await home.ready('hubautomation', own.metadata.name, {
      status: 'False',
      reason: 'InvalidSpec',
    });
    expect(message).toContain('entity.labels: the operator itself gives and takes the label');
    expect(await isMarked(await entityIdOf(own))).toBe(true);
  });
});

import { entitiesReadBy } from '../../../../../cli/test/record/read-entities';
import type { RunningHub } from '../../../../../cli/test/record/running-hub';
import { sidesOf, withoutBlueprints } from '../../../../../cli/test/record/sides';
import type { Home } from '../../../../../cli/test/protocol';
import { HubFailed } from '../../../../../operator/client/connection/errors';
import { hubClient } from '../../../stand-in-hub/hub-client';

const home = (parts: Partial<Home> = {}): Home => ({
  hub: {},
  ...{ automations: [], scripts: {}, scenes: [], files: {}, secrets: {} },
  ...{ zones: [], floors: [], labels: [], areas: [], helpers: [], blueprints: [], disabled: [] },
  ...parts,
});
const described = (parts: Partial<Home> = {}) => ({ home: home(parts), definitions: new Map() });

const stored = (id: string, payload = {}, entityId = `automation.${id}`) => ({ id, entityId, payload });
const running = (parts: Partial<RunningHub> = {}): RunningHub => ({
  version: '2026.11.0',
  location: { timezone: 'Europe/Berlin' },
  definitions: { automation: [], script: [], scene: [] },
  notExpressed: [],
  places: { zones: [], floors: [], labels: [], areas: [] },
  helpers: [],
  off: new Set(),
  entities: [],
  placed: {},
  ...parts,
});

describe('the two sides', () => {
  const hub = running({
    definitions: {
      automation: [
        stored('kept', { alias: 'K' }),
        stored('changed', { alias: 'C' }),
        stored('gone'),
        stored('by_hand'),
      ],
      script: [{ id: 's', entityId: 'script.renamed', payload: { sequence: [] } }],
      scene: [stored('z', { name: 'Z' }, 'scene.z')],
    },
    off: new Set(['automation.by_hand', 'automation.kept']),
  });
  const automations = [{ id: 'kept' }, { id: 'changed' }, { id: 'gone' }];
  const inCluster = described({ automations, disabled: ['changed'], configuration: 'sun:\n' });
  const given = described({
    automations: [{ id: 'changed', alias: 'C2' }, { id: 'new' }, { id: 'kept', alias: 'K' }],
    disabled: ['new'],
  });
  const { before, after, removed } = sidesOf(hub, inCluster, given);

  test('are the definitions that the hub runs, and the same with the definitions of the files', () => {
    expect(before.automations.map(({ id, alias }) => [id, alias])).toEqual([
      ['kept', 'K'],
      ['changed', 'C'],
      ['gone', undefined],
      ['by_hand', undefined],
    ]);
    expect(after.automations).toEqual([
      { id: 'kept', alias: 'K' },
      { id: 'changed', alias: 'C2' },
      { id: 'by_hand' },
      { id: 'new' },
    ]);
    expect(after.scripts).toEqual({ s: { sequence: [] } });
    expect(after.scenes).toEqual([{ name: 'Z', id: 'z' }]);
    expect(removed).toEqual(['automation.gone']);
    expect(before.hub).toEqual({ timezone: 'Europe/Berlin' });
    expect(after.hub).toEqual(before.hub);
  });

  test('are off by the definition where a resource exists, else as in the hub', () => {
    expect(before.disabled).toEqual(['changed', 'by_hand']);
    expect(after.disabled).toEqual(['by_hand', 'new']);
  });

  test('have the entity ids of the hub, where it has them', () => {
    expect(before.entityIds).toMatchObject({
      'automation.gone': 'gone',
      'script.renamed': 's',
      'scene.z': 'z',
    });
    expect(after.entityIds).toEqual({
      'automation.kept': 'kept',
      'automation.changed': 'changed',
      'automation.by_hand': 'by_hand',
      'script.renamed': 's',
      'scene.z': 'z',
    });
  });

  test('take the configuration from the other side where one has none', () => {
    expect(after.configuration).toBe('sun:\n');
    const own = { configuration: 'tag:\n', files: { 'a.yaml': '' } };
    const sides = sidesOf(hub, inCluster, described(own));
    expect(sides.before).toMatchObject({ configuration: 'sun:\n', files: {} });
    expect(sides.after).toMatchObject(own);
    expect(sidesOf(hub, described(), described(own)).before).toMatchObject(own);
    expect(sidesOf(hub, described(), described()).before).not.toHaveProperty('configuration');
  });

  test('have the areas of the hub, and those of the files in their place', () => {
    const places = { ...running().places, areas: [{ name: 'Hall ' }, { name: 'Attic' }] };
    const sides = sidesOf(
      running({ places }),
      described(),
      described({ areas: [{ name: 'hall', floor: 'G' }] }),
    );
    expect(sides.before.areas).toEqual(places.areas);
    expect(sides.after.areas).toEqual([{ name: 'hall', floor: 'G' }, { name: 'Attic' }]);
  });
});

test('the helpers of both sides are those of the hub, with those of the files in their place', () => {
  const helper = (id: string, name: string) => ({ domain: 'input_boolean', item: { id, name } });
  const helpers = [helper('kept', 'Kept'), helper('changed', 'Old'), helper('gone', 'Gone')];
  const { before, after, removed } = sidesOf(
    running({ helpers: [...helpers, helper('by_hand', 'By hand')] }),
    described({ helpers }),
    described({ helpers: [helper('new', 'New'), helper('changed', 'Present'), helper('kept', 'Kept')] }),
  );
  expect(before.helpers).toEqual([...helpers, helper('by_hand', 'By hand')]);
  expect(after.helpers).toEqual([
    helper('new', 'New'),
    helper('changed', 'Present'),
    helper('kept', 'Kept'),
    helper('by_hand', 'By hand'),
  ]);
  expect(removed).toEqual(['input_boolean.gone']);
});

describe('blueprints', () => {
  const use = (path: string) => ({ id: path, alias: 'A', use_blueprint: { path, input: { a: 1 } } });
  const asked: unknown[] = [];
  const client = hubClient({
    entities: {
      expandedBlueprint: (domain: string, used: { path: string }) => {
        asked.push([domain, used]);
        return used.path === 'bad.yaml'
          ? Promise.reject(new HubFailed('no such blueprint', 500))
          : Promise.resolve({ alias: 'of the blueprint', triggers: [1] });
      },
    },
  });

  test('are expanded by the hub, except those whose file is in the home', async () => {
    const given = home({
      automations: [use('a.yaml'), use('own.yaml'), use('bad.yaml'), { id: 'plain' }],
      scripts: { s: { use_blueprint: { path: 's.yaml' } } },
      files: { 'blueprints/automation/own.yaml': '' },
    });
    const { automations, scripts } = await withoutBlueprints(client, given);
    expect(automations).toEqual([
      { id: 'a.yaml', alias: 'A', triggers: [1] },
      use('own.yaml'),
      use('bad.yaml'),
      { id: 'plain' },
    ]);
    expect(scripts).toEqual({ s: { alias: 'of the blueprint', triggers: [1] } });
    expect(asked).toEqual([
      ['automation', { path: 'a.yaml', input: { a: 1 } }],
      ['automation', { path: 'bad.yaml', input: { a: 1 } }],
      ['script', { path: 's.yaml', input: {} }],
    ]);
  });
});

describe('the entities that a home reads', () => {
  const known = [
    ...[
      'sensor.a',
      'sensor.b',
      'sensor.c',
      'light.target',
      'light.read',
      'input_boolean.x',
      'sensor.in_data',
    ],
    ...[
      'light.templated',
      'automation.self',
      'sun.sun',
      'zone.home',
      'script.s',
      'scene.z',
      'sensor.unnamed',
    ],
  ];
  const read = (parts: Partial<Home>) => entitiesReadBy([home(parts)], known);

  test('are those of triggers, conditions and templates, not those on which actions operate', () => {
    const automation = {
      triggers: [
        { trigger: 'state', entity_id: ['sensor.a', 'sensor.gone'] },
        {
          trigger: 'template',
          value_template: "{{ states.sensor.b.state == '1' and is_state('sun.sun', 'x') }}",
        },
      ],
      conditions: [{ condition: 'state', entity_id: 'light.read', state: 'on' }],
      actions: [
        {
          action: 'light.turn_on',
          target: { entity_id: 'light.target' },
          data: { entity_id: 'light.target' },
        },
        { action: 'light.turn_off', target: { entity_id: "{{ ['light.templated'] }}" } },
        { action: 'notify.phone', data: { message: "It is {{ states('sensor.in_data') }}" } },
        {
          choose: [
            { conditions: [], sequence: [{ wait_template: "{{ is_state('input_boolean.x', 'on') }}" }] },
          ],
        },
        { action: 'script.turn_on', entity_id: 'light.target' },
      ],
    };
    expect(read({ automations: [automation] })).toEqual([
      ...['input_boolean.x', 'light.read', 'light.templated', 'sensor.a', 'sensor.b', 'sensor.in_data'],
    ]);
  });

  test('include those of scripts, configuration and files, and of no scene', () => {
    expect(
      read({
        scripts: { s: { sequence: [{ condition: 'state', entity_id: 'sensor.a' }] } },
        scenes: [{ entities: { 'light.target': 'on' } }],
        configuration: 'template:\n- sensor: {state: "{{ states(\'sensor.b\') }}"}\n',
        files: { 'packages/x.yaml': 'entity_id: sensor.c\n' },
      }),
    ).toEqual(['sensor.a', 'sensor.b', 'sensor.c']);
  });

  test('exclude automations, scripts, scenes, zones and the sun', () => {
    const names = ['automation.self', 'sun.sun', 'zone.home', 'script.s', 'scene.z'];
    expect(read({ automations: [{ triggers: [{ entity_id: names }] }] })).toEqual([]);
  });
});

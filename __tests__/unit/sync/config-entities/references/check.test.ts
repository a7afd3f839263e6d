import { HubClient } from '../../../../../operator/client/hub-client';
import type { EntityPayload } from '../../../../../operator/client/connection/config-entity';
import { HUB_SETTLE_TIME, REFERENCES_GRACE, REFERENCES_PAUSE } from '../../../../../operator/base/limits';
import { conditionOf, conditionsAfter } from '../../../../../operator/runtime/conditions';
import type { ClusterObject } from '../../../../../operator/runtime/objects';
import { type Outcome, ready, stalled } from '../../../../../operator/runtime/outcome';
import { automations } from '../../../../../operator/sync/config-entities/automation';
import type { EntityWork } from '../../../../../operator/sync/config-entities/entity-type';
import { ReferenceCheck } from '../../../../../operator/sync/config-entities/references';
import type { Child } from '../../../../../operator/sync/objects/child';
import { silentLog } from '../../../../cluster/silent-log';
import { FakeHub, json, text } from '../../../client/fake-hub';
import { ManualClock } from '../../../manual-clock';
import { objectMetadata } from '../../../object-metadata';
import { until } from '../../../until';
import { services } from '../../fixtures';

const READY = ready('AutomationGenerated', 'The hub uses it.');
const DAY = 86_400;

let bench: Bench;

/** A hub with these lists, and the resources of its automations. */
class Bench {
  readonly clock = new ManualClock();
  readonly requeued: string[] = [];
  states = ['light.sofa', 'sensor.heat', 'automation.dim'];
  entries = [{ entity_id: 'light.disabled', unique_id: 'u', platform: 'x', disabled_by: 'user' }];
  services: Record<string, object> = { light: { turn_on: {} } };
  components = ['light', 'automation'];
  /** Seconds since the oldest state was written, and what names the start of the hub. */
  age = DAY;
  start = 1;
  /** The answer of the hub's own extraction; undefined: it has all that the tests name. */
  related: Record<string, string[]> | undefined;
  entryState = 'loaded';
  unknown: readonly string[] = [];
  readonly client: HubClient;
  readonly check: ReferenceCheck;
  resources: Child[] = [];

  constructor(readonly hub: FakeHub) {
    this.client = new HubClient({ url: hub.url, token: 'good-token', clock: this.clock, log: silentLog });
    const given = services({
      clock: this.clock,
      requeue: (_kind, _namespace, name) => void this.requeued.push(name),
      cache: {
        ofHub: <T extends ClusterObject>(kind: string) =>
          this.resources.filter((each) => each.kind === kind)[Symbol.iterator]() as unknown as Iterable<T>,
      } as never,
    });
    this.check = new ReferenceCheck(given);
    hub.onCommand = (command) => {
      const { type } = command.message;
      const answer = this.answers[type];
      if (this.unknown.includes(type)) command.fail('unknown_command', 'Unknown command.');
      else if (answer) command.succeed(answer());
      else command.succeed();
    };
    hub.routes.set('POST /api/template', (request, response) => {
      const { template } = JSON.parse(request.body) as { template: string };
      const [, from, to] = /\[(\d+):(\d+)\]/.exec(template) ?? [];
      const answer =
        from === undefined ? String(this.age) : this.states.slice(Number(from), Number(to)).join(' ');
      text(200, answer)(request, response);
    });
    hub.routes.set('GET /api/components', (request, response) =>
      json(200, this.components)(request, response),
    );
  }

  private readonly answers: Readonly<Record<string, () => unknown>> = {
    'integration/setup_info': () => [{ domain: 'api', seconds: this.start }],
    'config/entity_registry/list': () => this.entries,
    get_services: () => this.services,
    'config/device_registry/list': () => [{ id: 'd1', labels: [] }],
    'config/area_registry/list': () => [{ area_id: 'kitchen', name: 'Kitchen' }],
    'config_entries/get': () => [
      {
        ...{ entry_id: 'e', domain: 'x', title: 'x', source: 'user', state: this.entryState },
        ...{ disabled_by: null, reason: null },
      },
    ],
    'search/related': () =>
      this.related ?? {
        entity: ['light.nowhere', 'light.sofaa', 'scene.x', 'automation.dim'],
        area: ['kichen'],
        device: ['d2'],
      },
  };

  resource(name = 'dim', spec: object = {}): Child {
    const resource = {
      kind: 'HubAutomation',
      metadata: { ...objectMetadata, name, namespace: 'home', uid: `uid-${name}`, generation: 1 },
      spec: { hubRef: { name: 'villa' }, ...spec },
    } as unknown as Child;
    this.resources.push(resource);
    return resource;
  }

  /** One check, whose result is written to status. */
  async look(resource: Child, definition: EntityPayload, outcome: Outcome = READY) {
    const work = { client: this.client, resource, payload: definition, context: { log: silentLog } };
    const { name } = resource.metadata;
    const entity = { entity_id: `automation.${name}` } as never;
    const result = await this.check.complete(
      automations,
      work as unknown as EntityWork<never, never>,
      { entity, running: definition },
      outcome,
    );
    const { generation } = resource.metadata;
    const at = new Date(this.clock.now()).toISOString();
    const conditions = conditionsAfter(resource.status?.conditions ?? [], result, generation, at);
    Object.assign(resource, { status: { ...resource.status, ...result.status, conditions } });
    const { status, message } = conditionOf(resource, 'ReferencesFound') ?? {};
    return { result, status, message, missing: resource.status!['missingReferences'] };
  }

  /** The hub tells of an event that one of the triggers lets through. */
  async tell(id: string, data: object): Promise<void> {
    const subscription = this.hub.commands.find(({ type }) => type === 'subscribe_trigger')!;
    const event = { variables: { trigger: { id, event: { data } } } };
    for (const socket of this.hub.clients)
      socket.send(JSON.stringify({ id: subscription.id, type: 'event', event }));
    await this.client.connection.command('get_config');
  }

  count(...types: readonly string[]): number {
    return this.hub.commands.filter(({ type }) => types.includes(type)).length;
  }
}

beforeEach(async () => {
  bench = new Bench(await FakeHub.start());
});

afterEach(async () => {
  bench.client.close();
  await bench.hub.close();
});

const turnOn = (target: object) => ({ actions: [{ action: 'light.turn_on', target }] });
const sofa = turnOn({ entity_id: ['light.sofa', 'light.disabled'] });
const nowhere = turnOn({ entity_id: 'light.nowhere' });

test('a state or an entry of the registry is enough, and nothing but the condition is added', async () => {
  const resource = bench.resource();
  const { result, status, missing } = await bench.look(resource, sofa);
  expect(status).toBe('True');
  expect(missing).toBeNull();
  expect(result).toMatchObject({ type: 'Ready', reason: READY.reason, message: READY.message, events: [] });
  expect(result.after).toBeUndefined();
});

test('what is missing is sorted, with suggestions, and five of them are in the message', async () => {
  const resource = bench.resource();
  bench.related = { entity: ['light.sofaa', 'light.x1', 'light.x2'], area: ['kichen'], device: ['d2'] };
  const { message, missing } = await bench.look(resource, {
    actions: [
      { action: 'nosuch.thing' },
      { action: 'light.turn_onn', target: { area_id: 'kichen', device_id: ['d1', 'd2'] } },
      { scene: 'light.x2' },
      { scene: 'light.sofaa' },
      { scene: 'light.x1' },
    ],
  });
  expect(missing).toEqual([
    { type: 'action', id: 'light.turn_onn', suggestion: 'light.turn_on' },
    { type: 'action', id: 'nosuch.thing' },
    { type: 'area', id: 'kichen', suggestion: 'kitchen' },
    { type: 'device', id: 'd2' },
    { type: 'entity', id: 'light.sofaa', suggestion: 'light.sofa' },
    { type: 'entity', id: 'light.x1' },
    { type: 'entity', id: 'light.x2' },
  ]);
  expect(message).toBe(
    'The hub does not have the action light.turn_onn (did you mean light.turn_on?), the action nosuch.thing (the integration nosuch is not set up), ' +
      'the area kichen (did you mean kitchen?), the device d2, light.sofaa (did you mean light.sofa?) and 2 more. ' +
      'Correct the name, or add what is missing to the hub.',
  );
});

test('status has fifty at most, and ids of a bearable length', async () => {
  const ids = Array.from({ length: 80 }, (_, index) => `light.n${index}`);
  bench.related = { entity: ids, area: ['a'.repeat(400)] };
  const { missing, message } = await bench.look(
    bench.resource(),
    turnOn({ entity_id: ids, area_id: 'a'.repeat(400) }),
  );
  expect(missing).toHaveLength(50);
  expect((missing as { id: string }[])[0]!.id.length).toBeLessThanOrEqual(255);
  expect(message).toContain(' and 76 more. ');
});

test('what the hub’s own extraction does not find is not reported; a hub without it is believed', async () => {
  const resource = bench.resource();
  bench.related = {};
  expect((await bench.look(resource, nowhere)).status).toBe('True');
  bench.unknown = ['search/related'];
  Object.assign(resource.metadata, { generation: 2 });
  expect((await bench.look(resource, nowhere)).status).toBe('False');
});

test('the own entity, and a scene that an action of the hub creates, are not looked at', async () => {
  const resource = bench.resource();
  bench.states = ['light.sofa'];
  const used = { actions: [{ scene: 'scene.x' }, { action: 'light.turn_on', entity_id: 'automation.dim' }] };
  expect((await bench.look(resource, used)).status).toBe('False');
  const create = [{ action: 'scene.create', data: { scene_id: 'x' } }];
  bench.resources.push({
    ...bench.resource('other'),
    kind: 'HubScript',
    spec: { sequence: create },
  } as never);
  expect((await bench.look(resource, used)).status).toBe('True');
});

describe('a hub that has started', () => {
  test('a short time ago: Unknown, without its lists being read, and checked afterwards', async () => {
    bench.age = HUB_SETTLE_TIME / 1_000 - 100;
    const resource = bench.resource();
    const first = await bench.look(resource, nowhere);
    expect(first).toMatchObject({ status: 'Unknown', missing: undefined });
    expect(bench.count('get_services', 'config/entity_registry/list')).toBe(0);
    await bench.clock.advance(99_000);
    expect(bench.requeued).toEqual([]);
    await bench.clock.advance(1_000);
    await until(() => bench.requeued.length > 0);
    expect(bench.requeued).toEqual(['dim']);
    const second = await bench.look(resource, nowhere);
    expect(second).toMatchObject({ status: 'False', result: { events: [] } });
  });

  test('a short time ago is not given more time by another connection', async () => {
    bench.age = 0;
    const resource = bench.resource();
    await bench.look(resource, sofa);
    await bench.clock.advance(HUB_SETTLE_TIME / 2);
    await reconnect();
    expect((await bench.look(resource, sofa)).status).toBe('Unknown');
    await bench.clock.advance(HUB_SETTLE_TIME / 2);
    expect((await bench.look(resource, sofa)).status).toBe('True');
  });

  test('while its lists were read: they are not those of a hub that has settled', async () => {
    const answer = bench.hub.onCommand;
    bench.hub.onCommand = (command) => {
      if (command.message.type === 'search/related') bench.client.presence['lost'] += 1;
      answer(command);
    };
    const { result, status } = await bench.look(bench.resource(), nowhere);
    expect(result).toBe(READY);
    expect(status).toBeUndefined();
  });

  test('long ago, with an integration that is being set up: Unknown until that has ended, once', async () => {
    bench.entryState = 'setup_in_progress';
    const resource = bench.resource();
    expect((await bench.look(resource, sofa)).status).toBe('Unknown');
    bench.entryState = 'loaded';
    bench.client.configEntries['entries'].invalidate();
    expect((await bench.look(resource, sofa)).status).toBe('True');
    bench.entryState = 'setup_in_progress';
    bench.client.configEntries['entries'].invalidate();
    expect((await bench.look(resource, sofa)).status).toBe('True');
  });

  test('long ago, with an integration whose setup does not end: no resource is reconciled until it has ended', async () => {
    bench.entryState = 'setup_in_progress';
    const resources = [bench.resource('dim'), bench.resource('glow')];
    for (const resource of resources) expect((await bench.look(resource, sofa)).status).toBe('Unknown');
    await bench.clock.advance(3_600_000);
    expect(bench.requeued).toEqual([]);
    bench.entryState = 'loaded';
    bench.client.configEntries['entries'].invalidate();
    await bench.clock.advance(10_000);
    await until(() => bench.requeued.length > 0);
    expect(bench.requeued).toEqual(['dim', 'glow']);
  });

  test('again: True, Unknown, True, without an event; another connection to it is none', async () => {
    const resource = bench.resource();
    await bench.look(resource, sofa);
    await reconnect();
    expect((await bench.look(resource, sofa)).status).toBe('True');
    bench.start = 2;
    bench.age = 0;
    await reconnect();
    expect(await bench.look(resource, sofa)).toMatchObject({ status: 'Unknown', result: { events: [] } });
    await bench.clock.advance(HUB_SETTLE_TIME);
    expect(await bench.look(resource, sofa)).toMatchObject({ status: 'True', result: { events: [] } });
  });

  test('and has lost something for good: an event, although it was Unknown meanwhile', async () => {
    const resource = bench.resource();
    await bench.look(resource, sofa);
    bench.start = 2;
    bench.states = [];
    bench.related = { entity: ['light.sofa'] };
    await reconnect();
    await bench.look(resource, sofa);
    await bench.clock.advance(HUB_SETTLE_TIME);
    const { status, result } = await bench.look(resource, sofa);
    expect(status).toBe('False');
    expect(result.events).toEqual([expect.objectContaining({ type: 'Normal', reason: 'ReferencesMissing' })]);
  });

  async function reconnect(): Promise<void> {
    const { epoch } = bench.client.presence;
    for (const socket of bench.hub.clients) socket.terminate();
    await until(() => bench.client.presence.epoch > epoch);
    for (let isBack = false; !isBack;) {
      await bench.clock.advance(1_000);
      isBack = await bench.client.connection.command('get_config').then(
        () => true,
        () => false,
      );
    }
  }
});

test('what was there a moment ago has a while to come back; a changed spec is judged at once', async () => {
  const resource = bench.resource();
  await bench.look(resource, sofa);
  bench.related = { entity: ['light.sofa', 'light.nowhere'] };
  await bench.tell('state-removed', { entity_id: 'light.sofa' });
  const first = await bench.look(resource, sofa);
  expect(first).toMatchObject({ status: 'True', result: { after: REFERENCES_GRACE } });
  await bench.clock.advance(REFERENCES_GRACE - 1);
  expect(await bench.look(resource, sofa)).toMatchObject({ status: 'True', result: { after: 1 } });
  await bench.clock.advance(1);
  const { status, result } = await bench.look(resource, sofa);
  expect(status).toBe('False');
  expect(result.events).toHaveLength(1);
  expect((await bench.look(resource, sofa)).result.events).toEqual([]);

  await bench.tell('state-added', { entity_id: 'light.sofa' });
  expect((await bench.look(resource, sofa)).status).toBe('True');
  Object.assign(resource.metadata, { generation: 2 });
  expect(await bench.look(resource, nowhere)).toMatchObject({ status: 'False' });
});

test('a state that comes back within the while begins it from its start', async () => {
  const resource = bench.resource();
  await bench.look(resource, sofa);
  bench.related = { entity: ['light.sofa'] };
  for (let round = 0; round < 3; round += 1) {
    await bench.tell('state-removed', { entity_id: 'light.sofa' });
    expect((await bench.look(resource, sofa)).result.after).toBe(REFERENCES_GRACE);
    await bench.clock.advance(REFERENCES_GRACE / 2);
    await bench.tell('state-added', { entity_id: 'light.sofa' });
    expect((await bench.look(resource, sofa)).status).toBe('True');
  }
});

test.each([
  ['state-added', { entity_id: 'light.nowhere' }, nowhere],
  ['entry', { action: 'create', entity_id: 'light.nowhere' }, nowhere],
  ['entry', { action: 'update', entity_id: 'light.nowhere', old_entity_id: 'light.x' }, nowhere],
  ['action-added', { domain: 'light', service: 'nowhere' }, { actions: [{ action: 'light.nowhere' }] }],
  ['area', { action: 'create', area_id: 'kichen' }, turnOn({ area_id: 'kichen' })],
  ['device', { action: 'create', device_id: 'd2' }, turnOn({ device_id: 'd2' })],
])('%s %j wakes what waits for it, and nothing else', async (trigger, data, definition) => {
  await bench.look(bench.resource('waits'), definition);
  await bench.look(bench.resource('other'), turnOn({ entity_id: 'light.sofaa' }));
  await bench.look(bench.resource('gone'), definition);
  bench.check.forget(bench.resources.at(-1)!, bench.client);
  await bench.tell('state-added', { entity_id: 'light.unrelated' });
  expect(bench.requeued).toEqual([]);
  await bench.tell(trigger, data);
  expect(bench.requeued).toEqual(['waits']);
});

test('a missing name without a near one is searched again when the hub gets a name', async () => {
  const names = await bench.client.names.read();
  const searched = jest.spyOn(Object.getPrototypeOf(names) as typeof names, 'entitiesBut');
  const resource = bench.resource();
  const looked = async () => {
    searched.mockClear();
    const { missing } = await bench.look(resource, nowhere);
    return { missing, searches: searched.mock.calls.length };
  };
  const none = [{ type: 'entity', id: 'light.nowhere' }];
  expect(await looked()).toEqual({ missing: none, searches: 1 });
  expect(await looked()).toEqual({ missing: none, searches: 0 });
  await bench.tell('state-removed', { entity_id: 'sensor.heat' });
  expect(await looked()).toEqual({ missing: none, searches: 0 });
  await bench.tell('state-added', { entity_id: 'light.nowhre' });
  expect(await looked()).toEqual({ missing: [{ ...none[0], suggestion: 'light.nowhre' }], searches: 1 });
  searched.mockRestore();
});

test('an entity with a state and an entry of the registry is compared once with a name that is missing', async () => {
  bench.states = ['light.sofa', 'light.disabled', 'automation.dim'];
  const names = await bench.client.names.read();
  expect([...names.entitiesBut('automation.dim')].toSorted()).toEqual(['light.disabled', 'light.sofa']);
});

test('a renamed entity is not there any more under its former id', async () => {
  const resource = bench.resource();
  bench.states = [];
  await bench.look(resource, turnOn({ entity_id: 'light.disabled' }));
  bench.related = { entity: ['light.disabled'] };
  await bench.tell('entry', { action: 'update', entity_id: 'light.new', old_entity_id: 'light.disabled' });
  const { result } = await bench.look(resource, turnOn({ entity_id: 'light.disabled' }));
  expect(result.after).toBe(REFERENCES_GRACE);
});

test('only what is Ready is judged, and an outcome without a verdict stays as it is', async () => {
  const resource = bench.resource();
  const outcome = stalled('RejectedByHub', 'No.');
  expect((await bench.look(resource, nowhere, outcome)).result).toBe(outcome);
  bench.unknown = ['subscribe_trigger'];
  expect((await bench.look(resource, nowhere)).result).toBe(READY);
  const asked = bench.hub.commands.length;
  expect((await bench.look(resource, nowhere)).result).toBe(READY);
  expect(bench.hub.commands).toHaveLength(asked);
  bench.unknown = [];
  await bench.clock.advance(REFERENCES_PAUSE);
  expect((await bench.look(resource, nowhere)).status).toBe('False');
});

test('a failure of the check itself changes neither the outcome of the resource nor other resources', async () => {
  const resource = bench.resource();
  const bug = new TypeError('a bug with good-token');
  const names = jest.spyOn(bench.client.names, 'read').mockRejectedValueOnce(bug);
  const logged = jest.spyOn(silentLog, 'error');
  expect((await bench.look(resource, nowhere)).result).toBe(READY);
  const [[{ error }]] = logged.mock.calls as unknown as [[{ error: Error }]];
  expect(`${error.message} ${error.stack}`).toMatch(/^a bug with (?!.*good-token)/s);
  logged.mockRestore();
  names.mockRestore();
  expect((await bench.look(resource, nowhere)).status).toBe('False');
});

test('states that are removed while the hub’s list is read hide none of the others', async () => {
  bench.states = Array.from({ length: 2_500 }, (_, index) => `sensor.n${index}`);
  const entities = { entity_id: [1_000, 1_001, 1_099].map((index) => `sensor.n${index}`) };
  bench.related = { entity: entities.entity_id };
  const answer = bench.hub.routes.get('POST /api/template')!;
  bench.hub.routes.set('POST /api/template', (request, response) => {
    if (request.body.includes('[900:')) bench.states = bench.states.slice(100);
    if (request.body.includes('[1000:')) bench.states = bench.states.slice(100);
    answer(request, response);
  });
  expect(await bench.look(bench.resource(), turnOn(entities))).toMatchObject({ status: 'True' });
});

test('the lists of a hub serve all of its resources', async () => {
  bench.states = Array.from({ length: 3_500 }, (_, index) => `sensor.temperature_of_room_${index}`);
  bench.services = Object.fromEntries(
    Array.from({ length: 100 }, (_, domain) => [`domain${domain}`, { turn_on: {}, turn_off: {} }]),
  );
  const definitions = Array.from({ length: 557 }, (_, index) => ({
    triggers: [{ trigger: 'state', entity_id: [`sensor.temperature_of_room_${index}`] }],
    conditions: [{ condition: 'state', entity_id: `sensor.temperature_of_room_${index + 1}`, state: '1' }],
    actions: Array.from({ length: 10 }, (_, step) => ({
      choose: [
        { conditions: [], sequence: [{ action: `domain${step}.turn_on`, target: { entity_id: 'all' } }] },
      ],
    })),
  }));
  const resources = definitions.map((_, index) => bench.resource(`a${index}`));
  for (const [index, definition] of definitions.entries())
    expect((await bench.look(resources[index]!, definition)).status).toBe('True');
  expect(bench.count('get_services')).toBe(1);
  expect(bench.count('config/entity_registry/list')).toBe(1);
  expect(bench.count('search/related')).toBe(0);
  expect(bench.hub.asked('/api/template')).toHaveLength(1 + 4);
  expect(bench.hub.commands.length).toBeLessThan(20);
});

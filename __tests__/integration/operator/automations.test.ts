import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { EntityPayload } from '../../../operator/client/connection/config-entity';
import type { HubClient } from '../../../operator/client/hub-client';
import { callService } from '../../../operator/client/services';
import { stateOf } from '../../../operator/client/config-entities/states';
import { freshNamespace, mustKubectl, until } from '../../cluster';
import { outliveCreation } from '../../cluster/creation-time';
import { versionsOfEvents } from '../../cluster/events';
import { automation, Home } from '../../cluster/home';
import { oneOfThree } from '../../cluster/one-of-three';
import { startTestOperator, type TestOperator } from '../../cluster/operator';
import { startHub } from '../../cluster/onboarded-volume';

// The life of automations in a hub that runs already.

let home: Home;
let operator: TestOperator;
let client: HubClient;

beforeAll(async () => {
  home = new Home(await freshNamespace('automations'));
  operator = await startTestOperator(home.namespace);
  await startHub(home, 'villa');
  client = await home.client('villa');
});

const inHub = (id: string) => client.entities.read('automation', id);
const hubHas = (id: string, expected: EntityPayload) =>
  until(`the hub has ${id} as expected`, async () => {
    const present = await inHub(id);
    expect(present).toMatchObject(expected);
    return true;
  });
const ready = (name: string) => home.ready('hubautomation', name);
const stalled = (name: string, reason: string) =>
  home.ready('hubautomation', name, { status: 'False', reason });
const statusOf = async (name: string) => (await home.get('hubautomation', name)).status ?? {};
const stateIn = async (name: string) => stateOf(client.rest, String((await statusOf(name))['entityId']));
const becomes = (name: string, state: string) =>
  until(`${name} is ${state}`, async () => (await stateIn(name)) === state);
const remove = (name: string) => home.delete('hubautomation', name);

describe('HubAutomation', () => {
  test('a change by kubectl apply reaches the hub immediately, and so does a deletion', async () => {
    await home.apply(automation('villa', 'lights'));
    await ready('lights');
    await home.apply(automation('villa', 'lights', { alias: 'Lights, changed', mode: 'restart' }));
    await hubHas('lights', { alias: 'Lights, changed', mode: 'restart' });
    await ready('lights');
    await remove('lights');
    expect(await inHub('lights')).toBeUndefined();
  });

  test('switched off and on again', async () => {
    await home.apply(automation('villa', 'switch', { initialState: true }));
    await ready('switch');
    await becomes('switch', 'on');

    await home.change('hubautomation', 'switch', { enabled: false });
    await becomes('switch', 'off');
    await hubHas('switch', { initial_state: false });
    await ready('switch');
    const entity_id = String((await statusOf('switch'))['entityId']);
    await callService(client.rest, 'automation', 'turn_on', { entity_id });
    await operator.touch('HubAutomation', 'switch');
    await becomes('switch', 'off');

    await home.change('hubautomation', 'switch', { enabled: true });
    await becomes('switch', 'on');
    await ready('switch');
    await operator.calm();
    // While the automation is enabled, users decide whether it is on.
    await callService(client.rest, 'automation', 'turn_off', { entity_id });
    await operator.touch('HubAutomation', 'switch');
    expect(await stateIn('switch')).toBe('off');
  });

  test('a changed id moves it', async () => {
    await home.apply(automation('villa', 'moved', { id: 'first_id' }));
    await ready('moved');
    await home.change('hubautomation', 'moved', { id: 'second_id' });
    await ready('moved');
    expect(await inHub('second_id')).toBeDefined();
    expect(await inHub('first_id')).toBeUndefined();
    expect(await statusOf('moved')).toMatchObject({ automationId: 'second_id' });
    await remove('moved');
    expect(await inHub('second_id')).toBeUndefined();
  });

  test('of two with one id the older one is used until it is deleted', async () => {
    await home.apply(automation('villa', 'older', { id: 'twin', alias: 'The older' }));
    await ready('older');
    await outliveCreation(home, 'hubautomation', 'older');
    await home.apply(automation('villa', 'younger', { id: 'twin', alias: 'The younger' }));
    expect((await stalled('younger', 'DuplicateId')).message).toContain('HubAutomation older');
    expect(await inHub('twin')).toMatchObject({ alias: 'The older' });

    await remove('older');
    await ready('younger');
    await hubHas('twin', { alias: 'The younger' });
    expect(await statusOf('younger')).not.toHaveProperty('adopted');
    await remove('younger');
    expect(await inHub('twin')).toBeUndefined();
  });

  test('the hub’s message about a rejected automation shows no value of its secrets', async () => {
    const value = 'the alarm code 4711';
    const knownSecrets = () => operator.metric('hub_operator_cached_objects', 'kind="Secret"');
    const before = await knownSecrets();
    await home.apply({
      apiVersion: 'v1',
      kind: 'Secret',
      metadata: { name: 'villa-secrets' },
      stringData: { 'secrets.yaml': `alarm_code: ${value}\n` },
    });
    // The watch of Secrets and that of automations are independent of each other.
    await until('the operator knows the Secret', async () => (await knownSecrets()) > before);
    await home.apply(automation('villa', 'alarm', { actions: [{ action: value }] }));
    const { message } = await stalled('alarm', 'RejectedByHub');
    expect(message).toMatch(/The hub rejected it: .*\*\*\*/);
    const { status } = await home.get('hubautomation', 'alarm');
    await home.event('HubAutomation', 'alarm', /RejectedByHub/);
    const events = await operator.events('HubAutomation', 'alarm');
    await remove('alarm');
    for (const text of [value, Buffer.from(value).toString('base64')]) {
      expect(JSON.stringify([status, events])).not.toContain(text);
      expect(await operator.log()).not.toContain(text);
    }
    await home.delete('secret', 'villa-secrets');
  });

  test('an automation that a user made is adopted, and stays when the resource is deleted', async () => {
    const own = { alias: 'By hand', triggers: [], actions: [] };
    await client.entities.write('automation', 'by_hand', own);
    // The hub loads the automation after it has answered, and the operator learns of it after that.
    await until('it is loaded', () => client.entityRegistry.find('automation', 'by_hand'));
    await operator.calm();
    await home.apply(automation('villa', 'adopter', { id: 'by_hand' }));
    await ready('adopter');
    await hubHas('by_hand', { alias: 'The automation adopter' });
    expect(await statusOf('adopter')).toMatchObject({ adopted: true });
    await home.event('HubAutomation', 'adopter', /^Warning Adopted: .*by_hand/);
    await remove('adopter');
    expect(await inHub('by_hand')).toBeDefined();

    await home.apply(automation('villa', 'adopter', { id: 'by_hand', deletionPolicy: 'Delete' }));
    await ready('adopter');
    await remove('adopter');
    expect(await inHub('by_hand')).toBeUndefined();

    await home.apply(automation('villa', 'orphan', { deletionPolicy: 'Orphan' }));
    await ready('orphan');
    await remove('orphan');
    expect(await inHub('orphan')).toBeDefined();
  });

  test('suspended, nothing changes, except by a deletion', async () => {
    await home.apply(automation('villa', 'resting'));
    await ready('resting');
    await home.change('hubautomation', 'resting', { suspend: true, alias: 'Not yet' });
    await until(
      'it is suspended',
      async () => (await home.condition('hubautomation', 'resting', 'Suspended'))?.status === 'True',
    );
    expect(await inHub('resting')).toMatchObject({ alias: 'The automation resting' });
    expect((await statusOf('resting')).conditions).toContainEqual(
      expect.objectContaining({ type: 'Ready', status: 'True' }),
    );

    await home.change('hubautomation', 'resting', { suspend: false });
    await hubHas('resting', { alias: 'Not yet' });
    await ready('resting');
    expect(await home.condition('hubautomation', 'resting', 'Suspended')).toBeUndefined();
    await home.change('hubautomation', 'resting', { suspend: true });
    await remove('resting');
    expect(await inHub('resting')).toBeUndefined();
  });

  test('a dry run says what would be sent, and sends nothing', async () => {
    await home.apply(automation('villa', 'careful'));
    await ready('careful');
    await home.annotate('hubautomation', 'careful', 'hub-operator.dev/dry-run=true');
    await home.change('hubautomation', 'careful', { alias: 'Bold', mode: 'restart' });
    expect((await stalled('careful', 'DryRun')).message).toMatch(/alias.*mode/);
    expect(await inHub('careful')).toMatchObject({ alias: 'The automation careful', mode: 'single' });
    await home.annotate('hubautomation', 'careful', 'hub-operator.dev/dry-run-');
    await ready('careful');
    await hubHas('careful', { alias: 'Bold', mode: 'restart' });
  });

  test('an integer that would lose digits in JavaScript is refused with its path, and nothing is sent', async () => {
    // JSON.stringify writes 2^53 + 2 and larger numbers as integers beyond the limit.
    await home.apply(automation('villa', 'chat', { variables: { room: { chat_id: 2 ** 53 + 2 } } }));
    expect((await stalled('chat', 'InvalidSpec')).message).toMatch(
      /spec\.variables\.room\.chat_id is the integer 9007199254740994.*Quote it/,
    );
    expect(await inHub('chat')).toBeUndefined();
    await home.change('hubautomation', 'chat', { variables: { room: { chat_id: '9007199254740994' } } });
    await ready('chat');
    await hubHas('chat', { variables: { room: { chat_id: '9007199254740994' } } });
  });

  test('the value of a requested full reconcile is repeated in status', async () => {
    await home.apply(automation('villa', 'asked'));
    await ready('asked');
    await home.annotate('hubautomation', 'asked', 'hub-operator.dev/reconcile-requested-at=at noon');
    await until(
      'the request is echoed',
      async () => (await statusOf('asked'))['lastHandledReconcileAt'] === 'at noon',
    );
    await ready('asked');
  });

  test('a reconcile with nothing to change writes nothing, neither to the cluster nor to the hub', async () => {
    await home.apply(automation('villa', 'quiet'));
    await ready('quiet');
    for (const { metadata } of await home.list('hubautomations')) await ready(metadata.name);
    const kinds =
      'hubs,hubconfigurations,hubautomations,statefulsets,services,configmaps,secrets,persistentvolumeclaims';
    const versions = async () => [
      ...(await home.list(kinds)).map(
        ({ kind, metadata }) => `${kind} ${metadata.name} ${metadata.resourceVersion}`,
      ),
      ...(await versionsOfEvents(home.namespace)),
      `automations.yaml ${await writtenAt()}`,
    ];
    for (const kind of ['Hub', 'HubConfiguration']) await operator.touch(kind, 'villa');
    await operator.touch('HubAutomation', 'quiet');
    // A hub that answers late on a busy machine is reported, which is a write.
    await oneOfThree(
      async (attempt) => {
        await operator.eventsWritten();
        await operator.calm();
        const before = await versions();
        const passes = await operator.metric('controller_runtime_reconcile_total');
        // An annotation of the pod restarts nothing, but triggers a reconcile of the Hub.
        await mustKubectl(
          ['annotate', '--overwrite', 'pod', 'villa-0', `example.org/touched=${attempt}`],
          home,
        );
        await until(
          'a reconcile',
          async () => (await operator.metric('controller_runtime_reconcile_total')) > passes,
        );
        await operator.calm();
        await operator.eventsWritten();
        return (await versions()).filter((version) => !before.includes(version));
      },
      (written) => written.length === 0,
    );
  });

  /** Returns the time at which the hub last wrote its automations, in milliseconds since the epoch. */
  async function writtenAt(): Promise<number> {
    return (await stat(join(await home.volumeOf('villa'), 'automations.yaml'))).mtimeMs;
  }
});

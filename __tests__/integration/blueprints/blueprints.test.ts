import { readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { HubClient } from '../../../operator/client/hub-client';
import { freshNamespace, until } from '../../cluster';
import { outliveCreation } from '../../cluster/creation-time';
import { automation, blueprint, configuration, Home, hub, script } from '../../cluster/home';
import type { HubRecorder } from '../../cluster/hub-recorder';
import { recorderOf, throughRecorders } from '../../cluster/recorded-hub';
import { restoreOnboarded } from '../../cluster/onboarded-volume';
import { startTestOperator, type TestOperator } from '../../cluster/operator';

const HUB = 'villa';
const CONFIGURATION = 'logger:\n  default: warning\nsearch:\nrepairs:\n';

let home: Home;
let operator: TestOperator;
let recorder: HubRecorder;
let client: HubClient;
let folder: string;

beforeAll(async () => {
  home = new Home(await freshNamespace('blueprints'));
  operator = await startTestOperator(home.namespace, { settings: throughRecorders });
  await restoreOnboarded(home, HUB);
  await home.apply(hub(HUB), configuration(HUB, CONFIGURATION));
  recorder = await recorderOf(home, HUB);
  await home.ready('hub', HUB);
  client = await home.client(HUB);
  folder = join(await home.volumeOf(HUB), 'blueprints');
});

afterAll(() => recorder?.stop());

interface Text {
  readonly name?: string;
  readonly minutes?: number;
  /** Name of an additional input without a default. */
  readonly needed?: string;
  readonly trigger?: string;
}

/** Returns a blueprint with the syntax that was new in 2024. */
const text = ({ name = 'Off after a while', minutes = 5, needed, trigger = 'state' }: Text = {}) => `
blueprint:
  name: ${name}
  domain: automation
  input:
    entity:
      selector:
        entity: {}
${needed === undefined ? '' : `    ${needed}: {}\n`}
triggers:
  - trigger: ${trigger}
    entity_id: !input entity
    to: 'on'
    for: { minutes: ${minutes} }
actions:
  - action: homeassistant.turn_off
    target: { entity_id: !input entity }
`;

const oldText = (name: string) => `
blueprint:
  name: ${name}
  domain: automation
  input: { entity: { selector: { entity: {} } }, minutes: { default: 5 } }
trigger:
  - platform: state
    entity_id: !input entity
    for: { minutes: !input minutes }
condition: []
action:
  - service: homeassistant.turn_off
    target: { entity_id: !input entity }
`;

const user = (name: string, path = `tests/${name}.yaml`, spec: object = {}) =>
  automation(HUB, name, {
    triggers: null,
    actions: null,
    useBlueprint: { path, input: { entity: 'input_boolean.a' } },
    ...spec,
  });

const sent = (command: string) => recorder.sent.filter((each) => each === `command ${command}`).length;
const reloads = async () =>
  (await operator.log()).split('\n').filter((line) => line.includes('"reloaded component"')).length;
const fileOf = (path: string, domain = 'automation') => readFile(join(folder, domain, path), 'utf8');
const writtenAt = async (path: string) => (await stat(join(folder, 'automation', path))).mtimeMs;
const bodyOf = async (path: string) =>
  (await client.blueprints.substitute('automation', path, { entity: 'light.a', more: 1 })) as {
    readonly triggers: readonly [{ readonly for: { readonly minutes: number } }];
  };
const minutesOf = async (path: string) => (await bodyOf(path)).triggers[0].for.minutes;
const reload = () => client.rest.post('/api/services/automation/reload', {});
const copies = async () =>
  (await readdir(join(folder, 'automation', 'hub-operator-check')).catch(() => [])).length;
const numbers = (count: number) => Array.from({ length: count }, (_, index) => index);

/** Restarts the operator, so that all resources are reconciled once more. */
async function restart(): Promise<void> {
  await operator.kill();
  await operator.start();
  await operator.calm();
}

describe('BlueprintSync', () => {
  test('50 blueprints and their users, applied at the same time, are written once each; a restart writes nothing', async () => {
    const names = numbers(50).map((n) => `burst-${n}`);
    const saved = sent('blueprint/save');
    const before = await reloads();
    // The automations that use the blueprints are applied first, and wait for them.
    await home.apply(...names.map((name) => user(name)));
    await home.ready('hubautomation', 'burst-0', { status: 'False', reason: 'BlueprintNotReady' });
    const began = performance.now();
    await home.apply(...names.map((name) => blueprint(HUB, name, { content: text({ name }) })));
    for (const name of names) {
      await home.ready('hubblueprint', name, { reason: 'BlueprintLoaded' });
      await home.ready('hubautomation', name);
    }
    expect(sent('blueprint/save') - saved).toBe(50);
    // A reload waits for the writes of a burst, up to 10 s.
    const most = 1 + Math.floor((performance.now() - began) / 10_000);
    const made = (await reloads()) - before;
    expect(made).toBeGreaterThan(0);
    expect(made).toBeLessThanOrEqual(most);
    expect(
      recorder.sent.filter((each) => each === 'POST /api/config/automation/config/burst-7'),
    ).toHaveLength(1);
    const changes = recorder.changes().length;
    await restart();
    expect(recorder.changes().slice(changes)).toEqual([]);
    await operator.touch('HubBlueprint', 'burst-3');
    await until(
      'users are counted',
      async () => (await home.get('hubblueprint', 'burst-3')).status?.['users'] === 1,
    );
    expect(await home.condition('hubblueprint', 'burst-3', 'UsersReady')).toMatchObject({
      status: 'True',
      reason: 'AllLoaded',
    });
  });

  test('100 blueprints with the syntax of 2023 and three reloads are not saved again; a user’s change is reverted', async () => {
    const names = numbers(100).map((n) => `old-${n}`);
    await home.apply(...names.map((name) => blueprint(HUB, name, { content: oldText(name) })));
    for (const name of names) await home.ready('hubblueprint', name);
    const changes = recorder.changes().length;
    for (const _ of [1, 2, 3]) {
      await reload();
      await operator.calm();
    }
    await restart();
    // The three reloads are those that the test requested.
    const own = recorder.changes().slice(changes);
    expect(own).toEqual(own.map(() => 'POST /api/services/automation/reload'));
    expect(own).toHaveLength(3);
    const file = join(folder, 'automation/tests/old-4.yaml');
    const before = await fileOf('tests/old-4.yaml');
    await writeFile(file, before.replace('default: 5', 'default: 6'));
    await reload();
    expect(await home.event('HubBlueprint', 'old-4', /DriftDetected/)).toContain('The change is reverted');
    await until('the text is back', async () => (await fileOf('tests/old-4.yaml')) === before);
    await home.change('hubblueprint', 'old-5', { driftPolicy: 'Warn' });
    await home.ready('hubblueprint', 'old-5');
    await rm(join(folder, 'automation/tests/old-5.yaml'));
    await reload();
    const { message } = await home.ready('hubblueprint', 'old-5', {
      status: 'False',
      reason: 'DriftDetected',
    });
    expect(message).toBe(
      'The blueprint was removed from the hub. driftPolicy is Warn: it is not created again.',
    );
    expect(await copies()).toBe(0);
  });

  test('a text that would break a user never replaces the one that runs', async () => {
    await home.apply(blueprint(HUB, 'lamp', { content: text() }), user('lamp'));
    await home.ready('hubblueprint', 'lamp');
    // A user's automation uses the blueprint too.
    await client.rest.post('/api/config/automation/config/of_person', {
      alias: 'Of a person',
      use_blueprint: { path: 'tests/lamp.yaml', input: { entity: 'input_boolean.b' } },
    });
    await home.ready('hubautomation', 'lamp');
    const at = await writtenAt('tests/lamp.yaml');
    await home.change('hubblueprint', 'lamp', { content: text({ needed: 'room' }) });
    const { message } = await home.ready('hubblueprint', 'lamp', { status: 'False', reason: 'UsersBroken' });
    expect(message).toMatch(
      /not written, since the hub would disable .*automation\.of_a_person \(.*room.*\)/,
    );
    await home.change('hubblueprint', 'lamp', { content: text({ trigger: 'nothing_of_the_hub' }) });
    await until('the other text is tried', async () =>
      (await home.condition('hubblueprint', 'lamp'))?.message.includes('nothing_of_the_hub'),
    );
    await home.change('hubblueprint', 'lamp', {
      content: 'blueprint: { name: a, domain: automation }\na: !secret b',
    });
    await home.ready('hubblueprint', 'lamp', { status: 'False', reason: 'InvalidSpec' });
    await home.change('hubblueprint', 'lamp', {
      content: text().replace('entity: {}', 'nothing_like_this: {}'),
    });
    await home.ready('hubblueprint', 'lamp', { status: 'False', reason: 'RejectedByHub' });
    expect(await writtenAt('tests/lamp.yaml')).toBe(at);
    await expect(client.rest.get('/api/states/automation.of_a_person')).resolves.toMatchObject({
      state: 'on',
    });
    // A valid text replaces the blueprint, and its users run with it.
    await home.change('hubblueprint', 'lamp', { content: text({ minutes: 7 }) });
    await home.ready('hubblueprint', 'lamp');
    expect(await minutesOf('tests/lamp.yaml')).toBe(7);
    const running = await client.entities.running('automation.of_a_person');
    expect(running).toMatchObject({ triggers: [{ for: { minutes: 7 } }] });
    await home.ready('hubautomation', 'lamp');
    expect(await copies()).toBe(0);
    // A text that differs only in comments is the same blueprint.
    const changes = recorder.sent.filter((each) => each.includes('reload')).length;
    const later = await writtenAt('tests/lamp.yaml');
    await home.change('hubblueprint', 'lamp', { content: `# the same\n${text({ minutes: 7 })}` });
    await home.ready('hubblueprint', 'lamp');
    expect(await writtenAt('tests/lamp.yaml')).toBe(later);
    expect(recorder.sent.filter((each) => each.includes('reload'))).toHaveLength(changes);
  });

  test('a user’s blueprint is adopted: an equal one unchanged, a different one is replaced', async () => {
    const yaml = text({ name: 'Imported' });
    for (const path of ['tests/equal.yaml', 'tests/other.yaml'])
      await client.blueprints.save(
        { domain: 'automation', path, yaml, sourceUrl: 'https://example.org/a' },
        true,
      );
    const at = await writtenAt('tests/equal.yaml');
    await home.apply(
      blueprint(HUB, 'equal', { content: yaml }),
      blueprint(HUB, 'other', { content: text({ name: 'Imported', minutes: 9 }) }),
    );
    await home.ready('hubblueprint', 'equal');
    await home.ready('hubblueprint', 'other');
    expect(await writtenAt('tests/equal.yaml')).toBe(at);
    expect(await minutesOf('tests/other.yaml')).toBe(9);
    expect(await fileOf('tests/other.yaml')).toContain('https://example.org/a');
    for (const name of ['equal', 'other']) {
      expect((await home.get('hubblueprint', name)).status).toMatchObject({ adopted: true });
      await home.event('HubBlueprint', name, /Adopted/);
      await home.delete('hubblueprint', name);
      expect(await fileOf(`tests/${name}.yaml`)).toContain('Imported');
    }
    expect(await copies()).toBe(0);
  });

  test('a blueprint in use is not removed; a removal waits for users that are deleted too', async () => {
    await home.apply(blueprint(HUB, 'used', { content: text() }), user('used'));
    await home.ready('hubautomation', 'used');
    await home.ready('hubblueprint', 'used');
    await home.delete('hubblueprint', 'used');
    expect(await operator.events('HubBlueprint', 'used')).toContainEqual(
      expect.stringMatching(
        /CleanupSkipped: The blueprint automation\/tests\/used.yaml stays in the hub: it is used by automation\./,
      ),
    );
    expect(await fileOf('tests/used.yaml')).toContain('Off after');
    await home.apply(blueprint(HUB, 'gone', { content: text(), deletionPolicy: 'Delete' }), user('gone'));
    await home.ready('hubautomation', 'gone');
    await home.delete('hubblueprint', 'gone', { wait: false });
    await home.delete('hubautomation', 'gone', { wait: false });
    await until('the file is gone', async () => (await fileOf('tests/gone.yaml').catch(() => '')) === '');
    await until('the resource is gone', async () => !(await home.exists('hubblueprint', 'gone')));
  });

  test('the text is in a ConfigMap, whose changes are followed', async () => {
    const configMap = (content: string) => ({
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: { name: 'texts' },
      data: { 'from-file.yaml': content },
    });
    await home.apply(blueprint(HUB, 'from-file', { configMapRef: { name: 'texts', key: 'from-file.yaml' } }));
    await home.ready('hubblueprint', 'from-file', { status: 'False', reason: 'ConfigMapNotFound' });
    await home.apply(configMap(text()));
    await home.ready('hubblueprint', 'from-file');
    await home.apply(configMap(text({ minutes: 11 })));
    await until('the change arrives', async () => (await minutesOf('tests/from-file.yaml')) === 11);
  });

  test('a script waits for its blueprint, and runs with it', async () => {
    const content = `
blueprint: { name: Wait, domain: script, input: { seconds: { default: 1 } } }
sequence: [{ delay: { seconds: !input seconds } }]
`;
    await home.apply(
      script(HUB, 'waits', {
        sequence: null,
        useBlueprint: { path: 'tests/wait.yaml', input: { seconds: 3 } },
      }),
    );
    await home.ready('hubscript', 'waits', { status: 'False', reason: 'BlueprintNotReady' });
    await home.apply(blueprint(HUB, 'wait', { domain: 'script', content }));
    await home.ready('hubscript', 'waits');
    await home.change('hubblueprint', 'wait', {
      content: content.replace('seconds: !input', 'minutes: !input'),
    });
    await home.ready('hubblueprint', 'wait');
    expect(await client.entities.running('script.waits')).toMatchObject({
      sequence: [{ delay: { minutes: 3 } }],
    });
  });

  test('of two resources with one path the older one has the blueprint', async () => {
    await home.apply(blueprint(HUB, 'first', { content: text({ minutes: 1 }), path: 'tests/one.yaml' }));
    await home.ready('hubblueprint', 'first');
    await outliveCreation(home, 'hubblueprint', 'first');
    await home.apply(blueprint(HUB, 'second', { content: text({ minutes: 2 }), path: 'tests/one.yaml' }));
    await home.ready('hubblueprint', 'second', { status: 'False', reason: 'DuplicateId' });
    expect(await minutesOf('tests/one.yaml')).toBe(1);
    await home.delete('hubblueprint', 'first');
    await home.ready('hubblueprint', 'second');
    await until('the other text', async () => (await minutesOf('tests/one.yaml')) === 2);
  });
});

import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { freshNamespace, until } from '../../cluster';
import { automation, blueprint, Home } from '../../cluster/home';
import { OperatorToKill } from '../../cluster/operator-to-kill';

// kill -9 of the operator at the requests in the life of one HubBlueprint: nothing is saved twice, and no
// copy remains.

const HUB = 'villa';

let home: Home;
let victim: OperatorToKill;
let folder: string;

beforeAll(async () => {
  home = new Home(await freshNamespace('blueprints-crash'));
  victim = await OperatorToKill.start(home, HUB, 'logger:\n  default: warning\nsearch:\nrepairs:\n', {
    resources: ['/hubblueprints/lamp'],
    statusPoint: ({ appliedHash }) => (appliedHash ? 'status with hash' : 'status'),
    isPoint: (command) => command === 'blueprint/save' || command === 'blueprint/delete',
  });
  folder = join(await home.volumeOf(HUB), 'blueprints/automation');
});

afterAll(() => victim?.stop());

const text = (minutes: number) => `
blueprint: { name: Lamp, domain: automation, input: { entity: {} } }
triggers: [{ trigger: state, entity_id: !input entity, for: { minutes: ${minutes} } }]
actions: []
`;
const file = () => readFile(join(folder, 'tests/lamp.yaml'), 'utf8').catch(() => '');
const saves = () => victim.recorder.sent.filter((each) => each === 'command blueprint/save').length;

async function expectNoCopy(): Promise<void> {
  await until(
    'no copy is left',
    async () => (await readdir(join(folder, 'hub-operator-check')).catch(() => [])).length === 0,
  );
}

test.each([
  ['status', false, 1],
  ['status', true, 1],
  ['blueprint/save', false, 2], // the first save did not arrive, so a second one follows
  ['blueprint/save', true, 2], // one of the saves is that of a copy
  ['status with hash', false, 2],
  ['status with hash', true, 1],
] as const)('killed at %s, sent: %s: a new blueprint exists once', async (at, isSent, count) => {
  victim.recorder.sent.length = 0;
  await victim.killAt(at, isSent, () => home.apply(blueprint(HUB, 'lamp', { content: text(1) })));
  await home.ready('hubblueprint', 'lamp');
  expect(await file()).toContain('minutes: 1');
  expect(saves()).toBe(count);
  expect((await home.get('hubblueprint', 'lamp')).status).not.toHaveProperty('adopted');
  await expectNoCopy();
  await home.delete('hubblueprint', 'lamp');
  expect(await file()).toBe('');
});

test.each([
  ['blueprint/save', 1, false],
  ['blueprint/save', 1, true],
  ['blueprint/delete', 1, false],
  ['blueprint/delete', 1, true],
  ['blueprint/save', 2, false],
  ['blueprint/save', 2, true],
  ['status with hash', 1, false],
] as const)(
  'killed at %s %s, sent: %s: a changed text arrives, and its user runs',
  async (at, left, isSent) => {
    await home.apply(
      blueprint(HUB, 'lamp', { content: text(1) }),
      automation(HUB, 'lamp', {
        triggers: null,
        actions: null,
        useBlueprint: { path: 'tests/lamp.yaml', input: { entity: 'input_boolean.a' } },
      }),
    );
    await home.ready('hubautomation', 'lamp');
    await home.ready('hubblueprint', 'lamp');
    const before = await file();
    const change = () => home.change('hubblueprint', 'lamp', { content: text(2) });
    await victim.killAt(at, isSent, change, left);
    await home.ready('hubblueprint', 'lamp');
    expect(await file()).toBe(before.replace('minutes: 1', 'minutes: 2'));
    const client = await home.client(HUB);
    await until('the user runs with it', async () => {
      const running = await client.entities.running('automation.the_automation_lamp');
      expect(running).toMatchObject({ triggers: [{ for: { minutes: 2 } }] });
      return true;
    });
    await expectNoCopy();
    await home.delete('hubautomation', 'lamp');
    await home.delete('hubblueprint', 'lamp');
    expect(await file()).toBe('');
  },
);

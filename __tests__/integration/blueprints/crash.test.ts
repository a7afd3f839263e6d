import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { URL_ANNOTATION } from '../../../sandbox/node';
import { freshNamespace, until } from '../../cluster';
import { ApiProxy, type Crossing } from '../../cluster/api-proxy';
import { automation, blueprint, configuration, Home, hub } from '../../cluster/home';
import { HubRecorder } from '../../cluster/hub-recorder';
import { restoreOnboarded } from '../../cluster/onboarded-volume';
import { startTestOperator, type TestOperator } from '../../cluster/operator';

// kill -9 of the operator at the requests in the life of one HubBlueprint: nothing is saved twice, and no
// copy remains.

const HUB = 'villa';
const PROXIED = 'example.org/proxied-hub';

let home: Home;
let operator: TestOperator;
let proxy: ApiProxy;
let recorder: HubRecorder;
let folder: string;
/**
 * The request at which the operator is killed next: the last of `left` requests with this name; undefined for
 * no kill.
 */
let point: { readonly at: string; readonly isSent: boolean; left: number } | undefined;
/** From the kill of the operator until its restart, all requests are dropped. */
let struck = false;
let killed = false;

/**
 * Kills the operator if this request to the API server, or this command to the hub, is the chosen point.
 * Called before and after each of them.
 */
async function strike(at: string, isSent: boolean): Promise<'on' | 'drop'> {
  if (struck) return 'drop';
  if (point?.at !== at || point.isSent !== isSent || --point.left > 0) return 'on';
  struck = true;
  await operator.kill();
  killed = true;
  return 'drop';
}

const isWrite = (command: string) => command === 'blueprint/save' || command === 'blueprint/delete';

function nameOf({ method, path, body }: Crossing): string | undefined {
  if (!path.includes('/hubblueprints/lamp')) return undefined;
  if (!path.endsWith('/status')) return method === 'GET' ? undefined : `${method} resource`;
  const { appliedHash } = (body as { status?: Record<string, unknown> }).status ?? {};
  return appliedHash ? 'status with hash' : 'status';
}

beforeAll(async () => {
  home = new Home(await freshNamespace('blueprints-crash'));
  proxy = await ApiProxy.start(async (moment, crossing) => {
    const name = nameOf(crossing);
    if (name !== undefined) return strike(name, moment === 'after');
    return struck ? 'drop' : 'on';
  });
  operator = await startTestOperator(home.namespace, {
    kubeconfig: proxy.kubeconfig,
    settings: { HUB_URL_ANNOTATION: PROXIED },
  });
  await restoreOnboarded(home, HUB);
  await home.apply(hub(HUB), configuration(HUB, 'logger:\n  default: warning\nsearch:\nrepairs:\n'));
  const url = await until(
    'the hub has an address',
    async () => (await home.get('service', HUB)).metadata.annotations?.[URL_ANNOTATION],
  );
  recorder = await HubRecorder.start(url);
  recorder.admit = async (command) => !isWrite(command) || (await strike(command, false)) === 'on';
  recorder.admitted = async (command) => void (isWrite(command) && (await strike(command, true)));
  await home.annotate('service', HUB, `${PROXIED}=${recorder.url}`);
  await home.ready('hub', HUB);
  folder = join(await home.volumeOf(HUB), 'blueprints/automation');
});

afterAll(async () => {
  proxy?.stop();
  await recorder?.stop();
});

const text = (minutes: number) => `
blueprint: { name: Lamp, domain: automation, input: { entity: {} } }
triggers: [{ trigger: state, entity_id: !input entity, for: { minutes: ${minutes} } }]
actions: []
`;
const file = () => readFile(join(folder, 'tests/lamp.yaml'), 'utf8').catch(() => '');
const saves = () => recorder.sent.filter((each) => each === 'command blueprint/save').length;

async function expectNoCopy(): Promise<void> {
  await until(
    'no copy is left',
    async () => (await readdir(join(folder, 'hub-operator-check')).catch(() => [])).length === 0,
  );
}

async function crashAt(at: string, left: number, isSent: boolean, work: () => Promise<void>): Promise<void> {
  recorder.sent.length = 0;
  point = { at, isSent, left };
  await work();
  await until(`the operator is struck at ${at}`, () => Promise.resolve(killed));
  point = undefined;
  struck = killed = false;
  await operator.start();
}

test.each([
  ['status', false, 1],
  ['status', true, 1],
  ['blueprint/save', false, 2], // the first save did not arrive, so a second one follows
  ['blueprint/save', true, 2], // one of the saves is that of a copy
  ['status with hash', false, 2],
  ['status with hash', true, 1],
] as const)('killed at %s, sent: %s: a new blueprint exists once', async (at, isSent, count) => {
  await crashAt(at, 1, isSent, () => home.apply(blueprint(HUB, 'lamp', { content: text(1) })));
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
    await crashAt(at, left, isSent, () => home.change('hubblueprint', 'lamp', { content: text(2) }));
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

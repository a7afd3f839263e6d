import { randomBytes } from 'node:crypto';
import { freshNamespace, until } from '../../cluster';
import { readManifests } from '../../../manifests/read-manifests';
import {
  area,
  automation,
  configuration,
  Home,
  hubSecrets,
  integration,
  type Manifest,
  scene,
  script,
  secret,
} from '../../cluster/home';
import { idleHub, nowhere } from '../../cluster/idle-hub';
import { startHub } from '../../cluster/onboarded-volume';
import { startTestOperator, type TestOperator } from '../../cluster/operator';

// The rows of the table in docs/explanation/security.md: what a user who may write only one kind can reach,
// and what not.

let home: Home;
let operator: TestOperator;

/** A value that only users who may read Secrets may learn. */
const PASSWORD = 'tulip-bulb-under-the-lamp';
/** A bundle of certificates, 700 lines, and a value of 900 KB in one line. */
const BUNDLE = randomBytes(33_600)
  .toString('base64')
  .replace(/(.{64})/g, '$1\n');
const FILE = randomBytes(900 * 768).toString('base64');
/** A token of a ServiceAccount, in the form in which Kubernetes makes it. */
const accountToken = {
  apiVersion: 'v1',
  kind: 'Secret',
  metadata: { name: 'default-token', annotations: { 'kubernetes.io/service-account.name': 'default' } },
  type: 'kubernetes.io/service-account-token',
};
const refused = { status: 'False', reason: 'SecretRefused' } as const;

beforeAll(async () => {
  home = new Home(await freshNamespace('security'));
  operator = await startTestOperator(home.namespace, {
    settings: { COMMUNITY_REPOSITORIES: 'trusted/', CODE_HOST_URL: 'http://192.0.2.1' },
  });
  await home.apply(accountToken, secret('mqtt', { password: PASSWORD }));
  await startHub(home, 'villa');
});

/** Returns everything that the operator writes for the hub `name`. */
const generated = (name: string) => home.secret(`${name}-secrets`, 'secrets.yaml');

describe('a user who may write only HubSecrets', () => {
  test('reaches every other Secret of the namespace', async () => {
    await home.apply(hubSecrets('villa', 'keys', { secretRefs: [{ name: 'mqtt' }] }));
    await home.ready('hubsecrets', 'keys');
    expect(await generated('villa')).toContain(PASSWORD);
  });

  test.each(['villa-admin', 'villa-api-token', 'default-token'])('does not reach %s', async (name) => {
    const before = await generated('villa');
    await home.change('hubsecrets', 'keys', { secretRefs: [{ name }] });
    const { message } = await home.ready('hubsecrets', 'keys', refused);
    expect(message).toContain(`The Secret ${name} in spec.secretRefs[0]`);
    expect(await generated('villa')).toBe(before);
  });

  test('reaches no Secret of another Hub, while that Hub exists', async () => {
    await home.apply(
      secret('cellar-admin', { rose: 'the-login-of-the-cellar' }),
      secret('logins', { tulip: PASSWORD }),
    );
    await home.change('hubsecrets', 'keys', { secretRefs: [{ name: 'cellar-admin' }, { name: 'logins' }] });
    await home.ready('hubsecrets', 'keys');
    const cellar = (spec = {}) => idleHub('cellar', spec);
    await home.apply(cellar());
    expect(await home.ready('hubsecrets', 'keys', refused)).toMatchObject({
      message: expect.stringContaining(
        'The Secret cellar-admin in spec.secretRefs[0] is that of the Hub cellar',
      ) as string,
    });

    await home.change('hubsecrets', 'keys', { secretRefs: [{ name: 'logins' }] });
    await home.ready('hubsecrets', 'keys');
    await home.apply(cellar({ bootstrap: { credentials: { secretRef: { name: 'logins' } } } }));
    expect(await home.ready('hubsecrets', 'keys', refused)).toMatchObject({
      message: expect.stringContaining(
        'The Secret logins in spec.secretRefs[0] is that of the Hub cellar, which names it in spec.bootstrap.credentials.secretRef',
      ) as string,
    });
    await home.delete('hub', 'cellar');
    await home.ready('hubsecrets', 'keys');
    expect(await generated('villa')).toContain(PASSWORD);
  });
});

describe('a user who may write only HubIntegrations', () => {
  test.each(['villa-admin', 'villa-api-token', 'default-token'])('sends %s nowhere', async (name) => {
    const key = { 'villa-admin': 'password', 'villa-api-token': 'token' }[name] ?? 'token';
    const broker = `mqtt-${name}`;
    await home.apply(
      integration('villa', broker, 'mqtt', {
        configuration: {
          broker: { value: '127.0.0.1' },
          password: { secretKeyRef: { name, key } },
        },
      }),
    );
    const { message } = await home.ready('hubintegration', broker, refused);
    expect(message).toContain(`The Secret ${name} in configuration.password`);
    expect((await home.get('hubintegration', broker)).status).not.toHaveProperty('pendingFlow');
    const { configEntries } = await home.client('villa');
    const entries = [...(await configEntries.refreshed()).values()];
    expect(entries.map(({ domain }) => domain)).not.toContain('mqtt');
  });
});

describe('a user who may write only HubConfigurations', () => {
  test('runs any command in the hub, and reads no Secret that no resource may refer to', async () => {
    await home.apply(
      configuration('villa', 'logger:\n  default: warning\nshell_command:\n  any: id\n', {
        recorder: { databaseSecretRef: { name: 'villa-admin', key: 'password' } },
      }),
    );
    const { message } = await home.ready('hubconfiguration', 'villa', refused);
    expect(message).toContain('The Secret villa-admin in spec.recorder.databaseSecretRef');
    const { data } = (await home.get('configmap', 'villa-configuration')) as unknown as { data: object };
    const password = await home.secret('villa-admin', 'password');
    expect(JSON.stringify(data)).not.toContain(password);
    expect(await generated('villa')).not.toContain(password);
    await home.change('hubconfiguration', 'villa', { recorder: null });
    await home.ready('hubconfiguration', 'villa');
    const { rest } = await home.client('villa');
    await until('the command is there', async () => {
      const services = await rest.get<{ domain: string }[]>('/api/services');
      return services.some(({ domain }) => domain === 'shell_command');
    });
  });
});

describe('a user who may write only HubCommunityRepositories', () => {
  const theme = (name: string, spec: object): Manifest => ({
    apiVersion: 'hub-operator.dev/v1',
    kind: 'HubCommunityRepository',
    metadata: { name },
    spec: { hubRef: { name: 'villa' }, category: 'theme', ref: 'v1', ...spec },
  });

  test('installs no code that the administrator does not allow', async () => {
    await home.apply(theme('strange', { repository: 'strange/theme' }));
    const { message } = await home.ready('hubcommunityrepository', 'strange', {
      status: 'False',
      reason: 'RepositoryNotAllowed',
    });
    expect(message).toContain('COMMUNITY_REPOSITORIES');
  });

  test('sends no token of the hub to the code host', async () => {
    await home.apply(
      theme('night', {
        repository: 'trusted/night',
        tokenSecretRef: { name: 'villa-api-token', key: 'token' },
      }),
    );
    const { message } = await home.ready('hubcommunityrepository', 'night', refused);
    expect(message).toContain('The Secret villa-api-token in spec.tokenSecretRef');
  });
});

describe('a user who may write only Hubs', () => {
  test('creates pods with any Secret of the namespace', async () => {
    const container = { name: 'reader', image: 'busybox', envFrom: [{ secretRef: { name: 'villa-admin' } }] };
    await home.apply(configuration('barn'), {
      apiVersion: 'hub-operator.dev/v1',
      kind: 'Hub',
      metadata: { name: 'barn' },
      spec: { version: '2026.11.0', podTemplate: nowhere({ spec: { containers: [container] } }) },
    });
    await until('the StatefulSet is made', () => home.exists('statefulset', 'barn'));
    expect(JSON.stringify(await home.get('statefulset', 'barn'))).toContain('villa-admin');
  });

  test.each([
    [
      'a token of a ServiceAccount',
      { automountServiceAccountToken: true },
      'no token and no certificate of a ServiceAccount',
    ],
    [
      'a folder of the node',
      { volumes: [{ name: 'root', hostPath: { path: '/' } }] },
      'only in a namespace with the label pod-security.kubernetes.io/enforce: privileged',
    ],
  ])('gives no pod %s', async (what, spec, words) => {
    const name = what.replaceAll(/\W+/g, '-').toLowerCase();
    await home.apply(configuration(name), {
      apiVersion: 'hub-operator.dev/v1',
      kind: 'Hub',
      metadata: { name },
      spec: { version: '2026.11.0', podTemplate: nowhere({ spec }) },
    });
    const { message } = await home.ready('hub', name, { status: 'False', reason: 'Forbidden' });
    expect(message).toContain(words);
    expect(await home.exists('statefulset', name)).toBe(false);
  });

  test.each([
    ['http://100.100.100.200', 'InvalidSpec'],
    ['http://[fd00:ec2::254]', 'InvalidSpec'],
    ['http://127.0.0.1:8080', 'InvalidSpec'],
  ])('makes the operator send no request to %s', async (url, reason) => {
    const name = `elsewhere-${url.replace(/\W+/g, '-').replace(/-$/, '')}`;
    await home.apply({
      apiVersion: 'hub-operator.dev/v1',
      kind: 'Hub',
      metadata: { name },
      spec: { external: { url, tokenSecretRef: { name: 'mqtt', key: 'password' } } },
    });
    await home.ready('hub', name, { status: 'False', reason });
  });

  test('makes no external hub receive a token of the operator or of the cluster', async () => {
    for (const name of ['villa-api-token', 'default-token']) {
      await home.apply({
        apiVersion: 'hub-operator.dev/v1',
        kind: 'Hub',
        metadata: { name: `to-${name}` },
        spec: { external: { url: 'http://192.0.2.1', tokenSecretRef: { name, key: 'token' } } },
      });
      await home.ready('hub', `to-${name}`, refused);
    }
  });
});

describe('a user who may write only one kind of objects that a hub runs', () => {
  /** Returns a key of the hub whose value only users who may read Secrets may learn. */
  async function keyOfPassword(): Promise<string> {
    const [, key = ''] = /^"?(\w+)"?: .*tulip/m.exec(await generated('villa')) ?? [];
    expect(key).not.toBe('');
    return key;
  }
  const actions = (key: string) => [
    { action: 'shell_command.any' },
    { action: 'persistent_notification.create', data: { message: `!secret ${key}` } },
  ];

  test.each<[string, string, (key: string) => Manifest]>([
    [
      'HubAutomations',
      'automation/config/curious',
      (key) => automation('villa', 'curious', { id: 'curious', actions: actions(key) }),
    ],
    [
      'HubScripts',
      'script/config/curious',
      (key) => script('villa', 'curious', { id: 'curious', sequence: actions(key) }),
    ],
  ])('%s run a shell command that the hub has, and get no value of a Secret', async (_, path, make) => {
    const key = await keyOfPassword();
    const manifest = make(key);
    await home.apply(manifest);
    await home.ready(manifest.kind, 'curious');
    const { rest } = await home.client('villa');
    const kept = JSON.stringify(await rest.get(`/api/config/${path}`));
    expect(kept).toContain('shell_command.any');
    expect(kept).toContain(`!secret ${key}`);
    expect(kept).not.toContain(PASSWORD);
  });

  test('HubScenes set states and run no action, and get no value of a Secret', async () => {
    const key = await keyOfPassword();
    const entities = [{ entity_id: 'input_text.note', state: `!secret ${key}` }];
    await home.apply(scene('villa', 'curious', { id: 'curious', entities }));
    await home.ready('hubscene', 'curious');
    const { rest } = await home.client('villa');
    expect(await rest.get('/api/config/scene/config/curious')).toMatchObject({
      entities: { 'input_text.note': { state: `!secret ${key}` } },
    });
    const withActions = scene('villa', 'acting', { entities, sequence: actions(key) });
    await expect(home.apply(withActions)).rejects.toThrow('sequence');
  });

  test('HubAreas get no value of a Secret', async () => {
    const name = `!secret ${await keyOfPassword()}`;
    await home.apply(area('villa', 'curious', { name }));
    await home.ready('hubarea', 'curious');
    const { registries } = await home.client('villa');
    expect([...(await registries.area.entries()).values()].map((each) => each.name)).toContain(name);
  });
});

test('no other kind refers to a Secret', () => {
  const definitions = readManifests('dist/crds.yaml') as { spec: { names: { kind: string } } }[];
  const naming = definitions.filter(({ spec }) => /"\w*[sS]ecret\w*Refs?":/.test(JSON.stringify(spec)));
  expect(naming.map(({ spec }) => spec.names.kind).sort()).toEqual([
    'Hub',
    'HubCommunityRepository',
    'HubConfiguration',
    'HubIntegration',
    'HubSecrets',
  ]);
});

test('long values of Secrets are treated like others: resources of their hub are Ready, and the log stays small', async () => {
  await home.apply(secret('long', { ca_bundle: BUNDLE, camera_file: FILE }));
  await home.change('hubsecrets', 'keys', { secretRefs: [{ name: 'logins' }, { name: 'long' }] });
  await until('the hub has the values', async () => (await generated('villa')).includes('camera_file'));
  await home.ready('hubsecrets', 'keys');
  const names = ['one', 'two', 'three'].map((name) => `long-${name}`);
  await home.apply(
    ...names.map((name) => automation('villa', name)),
    area('villa', 'long-area', { name: 'Long' }),
  );
  for (const name of names) await home.ready('hubautomation', name);
  await home.ready('hubarea', 'long-area');
  expect(JSON.stringify(await home.list('hubs,hubautomations,hubareas,hubsecrets,events'))).not.toContain(
    'InternalError',
  );
  const log = await operator.log();
  expect(log.length).toBeLessThan(2 ** 20);
  expect(Math.max(...log.split('\n').map((line) => line.length))).toBeLessThan(4_096);
});

test('no value of a Secret is shown', async () => {
  const password = await home.secret('villa-admin', 'password');
  const token = await home.secret('villa-api-token', 'token');
  const log = await operator.log();
  const resources = JSON.stringify(
    await home.list(
      'hubs,hubsecrets,hubintegrations,hubconfigurations,hubcommunityrepositories,events,configmaps',
    ),
  );
  for (const value of [PASSWORD, password, token, ...BUNDLE.split('\n'), FILE.slice(0, 100)].filter(
    Boolean,
  )) {
    expect(resources).not.toContain(value);
    expect(log).not.toContain(value);
  }
});

import { GROUP_VERSION } from '../../../operator/kinds/group';
import { freshNamespace, until } from '../../cluster';
import { outliveCreation } from '../../cluster/creation-time';
import { configuration, Home, hub, hubSecrets, secret } from '../../cluster/home';
import { running } from '../../cluster/http-settings';
import { oneOfThree } from '../../cluster/one-of-three';
import { restoreOnboarded } from '../../cluster/onboarded-volume';
import { startTestOperator, type TestOperator } from '../../cluster/operator';
import { Postgres, whyNoPostgres } from '../../cluster/postgres';
import { hubPid } from '../hub/hub-in-sandbox';

// Secrets on their way to a hub: HubSecrets without a hub first, then with one whose history is in PostgreSQL.

const PASSWORD = 'correct-horse-battery';
const GROUP = GROUP_VERSION.split('/')[0]!;

let home: Home;
let operator: TestOperator;

beforeAll(async () => {
  home = new Home(await freshNamespace('secrets'));
  operator = await startTestOperator(home.namespace);
});

const secretsYaml = (hubName: string) => home.secret(`${hubName}-secrets`, 'secrets.yaml');
const ownerOf = async (kind: string, name: string) =>
  (await home.get(kind, name)).metadata.ownerReferences?.find(({ controller }) => controller);

describe('HubSecrets without a hub', () => {
  test('waits for Secrets and keys, and combines them when they are there', async () => {
    await home.apply(
      hubSecrets('later', 'later', {
        secretRefs: [{ name: 'mqtt' }, { name: 'web', items: [{ key: 'token', as: 'web_token' }] }],
      }),
    );
    const missing = await home.ready('hubsecrets', 'later', { status: 'False', reason: 'SecretNotFound' });
    expect(missing.message).toContain('the Secret mqtt in spec.secretRefs[0]');
    await home.apply(secret('mqtt', { user: 'ada', password: '0123' }), secret('web', { other: 'x' }));
    const key = await home.ready('hubsecrets', 'later', { status: 'False', reason: 'KeyNotFound' });
    expect(key.message).toContain('the key token of the Secret web');
    await home.apply(secret('web', { token: 'line one\nline two: "quoted"\n' }));
    await home.ready('hubsecrets', 'later', { reason: 'SecretsGenerated' });
    const text = await secretsYaml('later');
    expect(text).toContain('"password": "0123"\n"user": "ada"\n');
    expect(text).toContain('"web_token": "line one\\x0Aline two: \\"quoted\\"\\x0A"\n');
    const { status } = await home.get('hubsecrets', 'later');
    const { annotations } = (await home.get('secret', 'later-secrets')).metadata;
    expect(status).toMatchObject({ keys: 3, secretsHash: annotations![`${GROUP}/secrets-hash`] });
    expect(JSON.stringify(await home.list('hubsecrets'))).not.toMatch(/0123|line one/);
  });

  test('follows a changed value, and its salt stays', async () => {
    const before = await secretsYaml('later');
    await home.apply(secret('mqtt', { user: 'ada', password: '4567' }));
    await until('the value arrives', async () => (await secretsYaml('later')).includes('"4567"'));
    const lineOf = (text: string, key: string) =>
      text.split('\n').find((line) => line.startsWith(`"${key}"`));
    const after = await secretsYaml('later');
    expect(lineOf(after, 'hub_operator_salt')).toBe(lineOf(before, 'hub_operator_salt'));
    expect(lineOf(after, 'hub_operator_hash')).not.toBe(lineOf(before, 'hub_operator_hash'));
  });

  test('gives the configuration its keys, and holds it back without one', async () => {
    await home.apply(configuration('later', 'logger:\nmine: [!secret user, !secret lost]\n'));
    const lost = await home.ready('hubconfiguration', 'later', { status: 'False', reason: 'KeyNotFound' });
    expect(lost.message).toContain('lost (spec.configuration, line 2, column 30)');
    expect(await home.exists('configmap', 'later-configuration')).toBe(false);
    await home.change('hubconfiguration', 'later', { configuration: 'logger:\nmine: [!secret user]\n' });
    await home.ready('hubconfiguration', 'later', { status: 'False', reason: 'HubNotFound' });
    const { data } = await home.get('configmap', 'later-configuration');
    expect(data!['configuration.yaml']).toContain('secrets: !secret hub_operator_hash');
    expect(data!['configuration.yaml']).not.toContain('ada');
  });

  test('a second one for the same hub takes over when the first is deleted', async () => {
    await outliveCreation(home, 'hubsecrets', 'later');
    await home.apply(hubSecrets('later', 'other', { secretRefs: [{ name: 'mqtt', keys: ['user'] }] }));
    await home.ready('hubsecrets', 'other', { status: 'False', reason: 'DuplicateId' });
    await home.delete('hubsecrets', 'later');
    await home.ready('hubsecrets', 'other', { reason: 'SecretsGenerated' });
    expect(await secretsYaml('later')).not.toContain('password');
  });

  test('the key logger and bytes that are no text are named', async () => {
    await home.apply(
      secret('odd', { logger: 'debug' }),
      hubSecrets('odd', 'odd', { secretRefs: [{ name: 'odd' }] }),
    );
    const logger = await home.ready('hubsecrets', 'odd', { status: 'False', reason: 'InvalidSpec' });
    expect(logger.message).toContain('The key logger of the Secret odd');
    await home.apply({
      apiVersion: 'v1',
      kind: 'Secret',
      metadata: { name: 'odd' },
      data: { logger: 'eA==', der: 'gIE=' },
    });
    await home.change('hubsecrets', 'odd', { secretRefs: [{ name: 'odd', keys: ['der'] }] });
    await until('the bytes are named', async () => {
      expect(await home.condition('hubsecrets', 'odd')).toMatchObject({
        reason: 'InvalidSpec',
        message: expect.stringMatching(/der .*is not UTF-8 text/s) as string,
      });
      return true;
    });
  });

  test('a dry run writes nothing and shows no value', async () => {
    const manifest = hubSecrets('dry', 'dry', { secretRefs: [{ name: 'mqtt' }] });
    await home.apply({
      ...manifest,
      metadata: { name: 'dry', annotations: { [`${GROUP}/dry-run`]: 'true' } },
    });
    const { message } = await home.ready('hubsecrets', 'dry', { status: 'False', reason: 'DryRun' });
    expect(message).toContain('Secret dry-secrets would be created.');
    expect(await home.exists('secret', 'dry-secrets')).toBe(false);
  });
});

const withPostgres = whyNoPostgres === undefined ? describe : describe.skip;
const skipped = whyNoPostgres === undefined ? '' : ` (skipped: ${whyNoPostgres})`;

withPostgres(`a hub with its history in PostgreSQL${skipped}`, () => {
  const CONFIGURATION =
    'logger:\n  default: warning\nhistory:\ninput_boolean:\n  lamp:\n    name: !secret lamp\ncounter:\n  visits:\n    name: !secret visits\n';
  let postgres: Postgres;

  // eslint-disable-next-line jest/no-duplicate-hooks -- the rule does not see that this is a describe of its own
  beforeAll(async () => {
    postgres = await Postgres.start(PASSWORD);
    await restoreOnboarded(home, 'villa');
    await home.apply(
      secret('db', { database_url: postgres.url }),
      hub('villa'),
      configuration('villa', 'logger:\nhistory:\ninput_boolean:\n  lamp:\n', {
        recorder: { databaseSecretRef: { name: 'db' }, purgeKeepDays: 30 },
      }),
    );
    await home.ready('hub', 'villa');
  });
  afterAll(() => postgres?.stop());

  const nameOf = async (entityId: string) => {
    const client = await home.client('villa');
    const state = await client.rest.get<{ attributes: { friendly_name: string } }>(`/api/states/${entityId}`);
    return state.attributes.friendly_name;
  };
  let visits = 'Guests';
  const recorded = async () => {
    const rows = await postgres.query(
      "select s.state from states s join states_meta m on s.metadata_id = m.metadata_id where m.entity_id = 'input_boolean.lamp' order by s.state_id",
    );
    return rows.map(([state]) => state);
  };

  test('the states of the hub are there, and the URL is in no ConfigMap and in no status', async () => {
    const client = await home.client('villa');
    await running(client); // the recorder, too
    await client.rest.post('/api/services/input_boolean/turn_on', { entity_id: 'input_boolean.lamp' });
    await until('the state is in the database', async () => (await recorded()).at(-1) === 'on');
    const { data } = await home.get('configmap', 'villa-configuration');
    expect(data!['configuration.yaml']).toContain(
      'recorder: {db_url: !secret hub_operator_recorder, purge_keep_days: 30}',
    );
    const everything = await home.list('configmaps,hubs,hubconfigurations,events,statefulsets,pods');
    expect(JSON.stringify(everything)).not.toContain(PASSWORD);
    expect(await ownerOf('secret', 'villa-secrets')).toMatchObject({ kind: 'HubConfiguration' });
  });

  test('a HubSecrets takes the file over, with the URL in it, and the hub keeps running', async () => {
    const pid = await hubPid(home, 'villa');
    await home.apply(
      secret('names', { lamp: 'Lamp', visits: 'Visits' }),
      hubSecrets('villa', 'villa', { secretRefs: [{ name: 'names' }] }),
    );
    await home.ready('hubsecrets', 'villa');
    expect(await ownerOf('secret', 'villa-secrets')).toMatchObject({ kind: 'HubSecrets' });
    const text = await secretsYaml('villa');
    expect(text).toContain('"lamp": "Lamp"');
    expect(text).toContain(`"hub_operator_recorder": "${postgres.url}"`);
    await home.ready('hub', 'villa');
    // Longer than the debounce of a rollout.
    await operator.calm();
    expect(await hubPid(home, 'villa')).toBe(pid);
  });

  test('a value that only sections with a reload use needs no restart', async () => {
    await home.change('hubconfiguration', 'villa', { configuration: CONFIGURATION });
    await home.ready('hubconfiguration', 'villa');
    await home.ready('hub', 'villa');
    const pid = await hubPid(home, 'villa');
    await home.apply(secret('names', { lamp: 'Bright lamp', visits: 'Visits' }));
    await until('the hub has the value', async () => (await nameOf('input_boolean.lamp')) === 'Bright lamp');
    const { message } = await home.ready('hubconfiguration', 'villa');
    expect(message).not.toContain('Bright');
    await operator.calm();
    expect(await hubPid(home, 'villa')).toBe(pid);
  });

  test('autoRestart: false leaves a value that needs a restart to the next one', async () => {
    const pid = await hubPid(home, 'villa');
    await home.change('hubsecrets', 'villa', { autoRestart: false });
    await home.apply(secret('names', { lamp: 'Lamp', visits: 'Guests' }));
    await until('the lamp has its name', async () => (await nameOf('input_boolean.lamp')) === 'Lamp');
    await until('the restart is left to the user', async () => {
      const condition = await home.condition('hubconfiguration', 'villa');
      expect(condition).toMatchObject({
        reason: 'RestartPending',
        message: expect.stringMatching(
          /loads counter, and spec\.autoRestart of the HubSecrets is false/,
        ) as string,
      });
      return true;
    });
    // Longer than the debounce of a rollout.
    await operator.calm();
    expect(await hubPid(home, 'villa')).toBe(pid);
    await home.change('hubsecrets', 'villa', { autoRestart: true });
    await until('the counter has its name', async () => (await nameOf('counter.visits')) === 'Guests');
    await home.ready('hubconfiguration', 'villa');
  });

  test('20 changes of configuration and secrets within 10 s are one rollout', async () => {
    const generation = async () => (await home.get('statefulset', 'villa')).metadata.generation;
    // Two changes may be further apart than the debounce where the machine is busy: then they are two rollouts.
    await oneOfThree(
      async (attempt) => {
        const before = await generation();
        const began = Date.now();
        for (let change = 0; change < 10; change++) {
          const text = `${CONFIGURATION}  visit_${attempt}_${change}:\n`;
          await home.change('hubconfiguration', 'villa', { configuration: text });
          visits = `Visits ${attempt}-${change}`;
          await home.apply(secret('names', { lamp: 'Lamp', visits }));
          await new Promise((resolve) =>
            setTimeout(resolve, Math.max(0, began + (change + 1) * 1_000 - Date.now())),
          );
        }
        await until('the hub has loaded the last change', async () => {
          const client = await home.client('villa');
          const states = await client.rest.get<{ entity_id: string }[]>('/api/states');
          return (
            (await nameOf('counter.visits')) === visits &&
            states.some(({ entity_id }) => entity_id === `counter.visit_${attempt}_9`)
          );
        });
        await home.ready('hub', 'villa');
        await operator.calm();
        return (await generation()) - before;
      },
      (rollouts) => rollouts === 1,
    );
    expect((await recorded()).length).toBeGreaterThan(1);
  });

  test('a removed key and a deleted HubSecrets leave the values that the hub uses, and another one takes over', async () => {
    const before = await secretsYaml('villa');
    await home.change('hubsecrets', 'villa', { secretRefs: [{ name: 'names', keys: ['lamp'] }] });
    await home.ready('hubconfiguration', 'villa', { status: 'False', reason: 'KeyNotFound' });
    expect(await secretsYaml('villa')).toContain(`"visits": "${visits}"\n`);
    await home.delete('hubsecrets', 'villa');
    await home.apply(hubSecrets('villa', 'successor', { secretRefs: [{ name: 'names' }] }));
    await home.ready('hubsecrets', 'successor', { reason: 'SecretsGenerated' });
    await home.ready('hubconfiguration', 'villa');
    // Salt and all: nothing has changed for the hub.
    await operator.calm();
    expect(await secretsYaml('villa')).toBe(before);
  });
});

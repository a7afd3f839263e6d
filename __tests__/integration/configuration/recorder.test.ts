import { freshNamespace, until } from '../../cluster';
import { configuration, Home, hub, hubSecrets, secret } from '../../cluster/home';
import { running } from '../../cluster/http-settings';
import { oneOfThree } from '../../cluster/one-of-three';
import { restoreOnboarded } from '../../cluster/onboarded-volume';
import { startTestOperator, type TestOperator } from '../../cluster/operator';
import { Postgres, whyNoPostgres } from '../../cluster/postgres';
import { hubPid } from '../hub/hub-in-sandbox';

// Secrets of a running hub, including the URL of its recorder's database.

const PASSWORD = 'correct-horse-battery';

let home: Home;
let operator: TestOperator;

const secretsYaml = (hubName: string) => home.secret(`${hubName}-secrets`, 'secrets.yaml');
const ownerOf = async (kind: string, name: string) =>
  (await home.get(kind, name)).metadata.ownerReferences?.find(({ controller }) => controller);

const withPostgres = whyNoPostgres === undefined ? describe : describe.skip;
const skipped = whyNoPostgres === undefined ? '' : ` (skipped: ${whyNoPostgres})`;

withPostgres(`HubSecrets of a hub with its history in PostgreSQL${skipped}`, () => {
  const CONFIGURATION =
    'logger:\n  default: warning\nhistory:\ninput_boolean:\n  lamp:\n    name: !secret lamp\ncounter:\n  visits:\n    name: !secret visits\n';
  let postgres: Postgres;

  beforeAll(async () => {
    postgres = await Postgres.start(PASSWORD);
    home = new Home(await freshNamespace('history'));
    operator = await startTestOperator(home.namespace);
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

  test('the states of the hub are in the database, and the URL is in no ConfigMap and in no status', async () => {
    const client = await home.client('villa');
    await running(client); // includes the recorder
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

  test('a HubSecrets takes over the file, with the URL in it, and the hub keeps running', async () => {
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
    // Waits longer than the debounce of a rollout.
    await operator.calm();
    expect(await hubPid(home, 'villa')).toBe(pid);
  });

  test('a value that only reloadable sections use needs no restart', async () => {
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

  test('with autoRestart: false a value that needs a restart waits for the next one', async () => {
    const pid = await hubPid(home, 'villa');
    await home.change('hubsecrets', 'villa', { autoRestart: false });
    await home.ready('hubsecrets', 'villa'); // the watches of the two kinds are independent of each other
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
    // Waits longer than the debounce of a rollout.
    await operator.calm();
    expect(await hubPid(home, 'villa')).toBe(pid);
    await home.change('hubsecrets', 'villa', { autoRestart: true });
    await until('the counter has its name', async () => (await nameOf('counter.visits')) === 'Guests');
    await home.ready('hubconfiguration', 'villa');
  });

  test('20 changes of configuration and secrets within 10 s are one rollout', async () => {
    const generation = async () => (await home.get('statefulset', 'villa')).metadata.generation;
    // On a busy machine two changes may be further apart than the debounce, which makes two rollouts.
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
    // Even the salt is equal, so nothing has changed for the hub.
    await operator.calm();
    expect(await secretsYaml('villa')).toBe(before);
  });
});

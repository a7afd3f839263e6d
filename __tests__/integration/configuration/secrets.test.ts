import { GROUP_VERSION } from '../../../operator/kinds/group';
import { freshNamespace, until } from '../../cluster';
import { outliveCreation } from '../../cluster/creation-time';
import { configuration, Home, hubSecrets, secret } from '../../cluster/home';
import { startTestOperator } from '../../cluster/operator';

// Secrets that are prepared for a hub that does not exist yet.

const GROUP = GROUP_VERSION.split('/')[0]!;

let home: Home;

beforeAll(async () => {
  home = new Home(await freshNamespace('secrets'));
  await startTestOperator(home.namespace);
});

const secretsYaml = (hubName: string) => home.secret(`${hubName}-secrets`, 'secrets.yaml');

describe('HubSecrets without a hub', () => {
  test('waits for Secrets and keys, and combines them when they are there', async () => {
    await home.apply(
      hubSecrets('later', 'later', {
        secretRefs: [{ name: 'mqtt' }, { name: 'web', items: [{ key: 'token', as: 'web_token' }] }],
      }),
    );
    const missing = await home.ready('hubsecrets', 'later', { status: 'False', reason: 'SecretNotFound' });
    expect(missing.message).toContain('the Secret mqtt in spec.secretRefs[0]');
    await home.apply(
      secret('mqtt', { user: 'lovelace', password: '0123456789012' }),
      secret('web', { other: 'x' }),
    );
    const key = await home.ready('hubsecrets', 'later', { status: 'False', reason: 'KeyNotFound' });
    expect(key.message).toContain('the key token of the Secret web');
    await home.apply(secret('web', { token: 'line one\nline two: "quoted"\n' }));
    await home.ready('hubsecrets', 'later', { reason: 'SecretsGenerated' });
    const text = await secretsYaml('later');
    expect(text).toContain('"password": "0123456789012"\n"user": "lovelace"\n');
    expect(text).toContain('"web_token": "line one\\x0Aline two: \\"quoted\\"\\x0A"\n');
    const { status } = await home.get('hubsecrets', 'later');
    const { annotations } = (await home.get('secret', 'later-secrets')).metadata;
    expect(status).toMatchObject({ keys: 3, secretsHash: annotations![`${GROUP}/secrets-hash`] });
    expect(JSON.stringify(await home.list('hubsecrets'))).not.toMatch(/0123456789012|line one/);
  });

  test('follows a changed value, and its salt stays', async () => {
    const before = await secretsYaml('later');
    await home.apply(secret('mqtt', { user: 'lovelace', password: '4567' }));
    await until('the value arrives', async () => (await secretsYaml('later')).includes('"4567"'));
    const lineOf = (text: string, key: string) =>
      text.split('\n').find((line) => line.startsWith(`"${key}"`));
    const after = await secretsYaml('later');
    expect(lineOf(after, 'hub_operator_salt')).toBe(lineOf(before, 'hub_operator_salt'));
    expect(lineOf(after, 'hub_operator_hash')).not.toBe(lineOf(before, 'hub_operator_hash'));
  });

  test('provides the keys of the configuration, and holds it back when one is missing', async () => {
    await home.apply(configuration('later', 'logger:\nmine: [!secret user, !secret lost]\n'));
    const lost = await home.ready('hubconfiguration', 'later', { status: 'False', reason: 'KeyNotFound' });
    expect(lost.message).toContain('lost (spec.configuration, line 2, column 30)');
    expect(await home.exists('configmap', 'later-configuration')).toBe(false);
    await home.change('hubconfiguration', 'later', { configuration: 'logger:\nmine: [!secret user]\n' });
    await home.ready('hubconfiguration', 'later', { status: 'False', reason: 'HubNotFound' });
    const { data } = await home.get('configmap', 'later-configuration');
    expect(data!['configuration.yaml']).toContain('secrets: !secret hub_operator_hash');
    expect(data!['configuration.yaml']).not.toContain('lovelace');
  });

  test('a second one for the same hub takes over when the first is deleted', async () => {
    await outliveCreation(home, 'hubsecrets', 'later');
    await home.apply(hubSecrets('later', 'other', { secretRefs: [{ name: 'mqtt', keys: ['user'] }] }));
    await home.ready('hubsecrets', 'other', { status: 'False', reason: 'DuplicateId' });
    await home.delete('hubsecrets', 'later');
    await home.ready('hubsecrets', 'other', { reason: 'SecretsGenerated' });
    expect(await secretsYaml('later')).not.toContain('password');
  });

  test('the key logger and bytes that are not text are named', async () => {
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

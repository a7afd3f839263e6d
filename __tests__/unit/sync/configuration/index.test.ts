import { unbounded } from '../../../../operator/base/bounded-task';
import type { Hub, HubConfiguration, HubSecrets } from '../../../../operator/kinds';
import { objectNames } from '../../../../operator/kinds/object-names';
import type { Manifest } from '../../../../operator/runtime/apply';
import type { ReconcileContext } from '../../../../operator/runtime/sync-module';
import { configurationModule } from '../../../../operator/sync/configuration';
import { generateConfiguration } from '../../../../operator/sync/configuration/generate/generate';
import { parseHubYaml } from '../../../../operator/sync/configuration/generate/hub-yaml';
import { packed } from '../../../../operator/sync/configuration/generate/packed-files';
import { withPartFiles } from '../../../../operator/sync/configuration/generate/parts';
import { HubClients } from '../../../../operator/sync/hub-connection/hub-clients';
import { PodRestarts } from '../../../../operator/sync/hub-pod/pod-restarts';
import { readFormerValues, writeFormerValues } from '../../../../operator/sync/secrets-yaml/values-in-use';
import { writeSecretsYaml } from '../../../../operator/sync/secrets-yaml/secrets-yaml';
import { aHub, secretReader, services } from '../fixtures';

const GROUP = 'hub-operator.dev';

interface Cluster {
  readonly spec?: Partial<HubConfiguration['spec']>;
  readonly hub?: Hub | undefined;
  readonly hubSecrets?: HubSecrets;
  /** Values of Secrets by name. `villa-secrets` is the hub's `secrets.yaml`. */
  readonly secrets?: Readonly<Record<string, Readonly<Record<string, string>>>>;
  /** Annotations of the ConfigMap that exists. */
  readonly published?: Readonly<Record<string, string>>;
  /** ConfigMaps of the operator by name. */
  readonly configMaps?: Readonly<Record<string, object>>;
  /** ConfigMaps of users by name. */
  readonly named?: Readonly<Record<string, { readonly data: object; readonly labels?: object }>>;
  /** The kind of the owner of `villa-secrets`. */
  readonly secretsOf?: string;
  readonly status?: HubConfiguration['status'];
  /** Secrets that appear while the texts are read. */
  readonly lateSecrets?: Readonly<Record<string, Readonly<Record<string, string>>>>;
}

const secretsYaml = (values: Readonly<Record<string, string>>) =>
  writeSecretsYaml(new Map(Object.entries(values)), 'salt');

const hubSecrets = (spec: Partial<HubSecrets['spec']> = {}) =>
  ({
    apiVersion: `${GROUP}/v1`,
    kind: 'HubSecrets',
    metadata: { namespace: 'home', name: 'villa', uid: '2' },
    spec: { hubRef: { name: 'villa' }, secretRefs: [{ name: 'logins' }], ...spec },
  }) as unknown as HubSecrets;

async function sync({
  spec,
  hub,
  hubSecrets: writer,
  secrets = {},
  published,
  configMaps = {},
  named = {},
  secretsOf,
  status,
  lateSecrets = {},
}: Cluster = {}) {
  const applied: Manifest[] = [];
  const requeued: string[] = [];
  const found: string[] = [];
  const configuration = {
    apiVersion: `${GROUP}/v1`,
    kind: 'HubConfiguration',
    metadata: { namespace: 'home', name: 'villa', uid: '1', generation: 1 },
    spec: { hubRef: { name: 'villa' }, configuration: '', ...spec },
    status,
  } as unknown as HubConfiguration;
  const stored = new Map(
    Object.entries(secrets).map(([name, values]) => [name, new Map(Object.entries(values))]),
  );
  const given = services({
    cache: {
      get: (kind: string, _namespace: string, name: string) => {
        if (kind === 'Hub') return hub as never;
        if (kind === 'ConfigMap' && Object.hasOwn(named, name))
          return { metadata: { name, labels: named[name]!.labels } } as never;
        if (kind === 'Secret' && secretsOf) return { metadata: {} } as never;
        return (
          kind === 'ConfigMap' && published ? { metadata: { annotations: published } } : undefined
        ) as never;
      },
      watches: () => false,
      list: function* () {},
      *ofHub(kind: string) {
        if (kind === 'HubSecrets' && writer) yield writer as never;
      },
    },
    secrets: secretReader((name) => stored.get(name)),
    applier: {
      find: (_type: unknown, _namespace: string, name: string) => {
        found.push(name);
        return Promise.resolve((configMaps[name] ?? named[name]) as never);
      },
      isOurs: (_object: unknown, owner) => owner.kind === secretsOf,
      apply: (_type, manifest) => {
        applied.push(manifest);
        const data = manifest['data'] as Record<string, string>;
        if (manifest.kind === 'Secret')
          stored.set(
            manifest.metadata.name,
            new Map(
              Object.entries(data).map(([key, value]) => [key, Buffer.from(value, 'base64').toString()]),
            ),
          );
        return Promise.resolve(undefined as never);
      },
    },
    texts: {
      run: (...task) => {
        for (const [name, values] of Object.entries(lateSecrets))
          stored.set(name, new Map(Object.entries(values)));
        return unbounded.run(...task);
      },
    },
    requeue: (kind, _namespace, name) => void requeued.push(`${kind} ${name}`),
  });
  const context = { dryRun: false } as ReconcileContext;
  const hubs = new HubClients(given);
  const { module, close } = configurationModule(given, hubs, new PodRestarts(given, hubs));
  const outcome = await module.sync(configuration, context);
  close();
  const configMap = applied.find(({ kind }) => kind === 'ConfigMap');
  return {
    outcome,
    applied: applied.map(({ kind, metadata }) => `${kind} ${metadata.name}`),
    requeued,
    found,
    annotations: configMap?.metadata.annotations ?? {},
    data: (configMap?.['data'] ?? {}) as Readonly<Record<string, string>>,
    text: (configMap?.['data'] as Record<string, string> | undefined)?.['configuration.yaml'] ?? '',
    secretsYaml: stored.get('villa-secrets')?.get('secrets.yaml') ?? '',
    former: readFormerValues(stored.get('villa-secrets')),
  };
}

describe('spec.filesFrom', () => {
  const filesFrom = [{ configMapRef: { name: 'rooms' } }] as never;

  test('the files of a ConfigMap become those of the hub', async () => {
    const named = { rooms: { data: { 'hall.yaml': 'a: 1\n' } } };
    const { data } = await sync({ spec: { filesFrom }, named });
    expect(data['hall.yaml']).toBe('a: 1\n');
  });

  test('without the ConfigMap nothing is written', async () => {
    const { applied, outcome } = await sync({ spec: { filesFrom } });
    expect(applied).toEqual([]);
    expect(outcome).toMatchObject({
      type: 'Waiting',
      reason: 'ConfigMapNotFound',
      message: 'spec.filesFrom[0]: there is no ConfigMap rooms. Create it. The last configuration stays.',
    });
  });

  test('a ConfigMap that the operator itself writes is refused: each change would cause the next one', async () => {
    const labels = { [`${GROUP}/owner`]: 'HubConfiguration.villa' };
    const items = [{ key: 'configuration.yaml', path: 'own.yaml' }];
    const { applied, outcome } = await sync({
      spec: { filesFrom: [{ configMapRef: { name: 'villa-configuration' }, items }] as never },
      named: { 'villa-configuration': { data: { 'configuration.yaml': 'a: 1\n' }, labels } },
    });
    expect(applied).toEqual([]);
    expect(outcome).toMatchObject({
      type: 'Stalled',
      reason: 'InvalidConfiguration',
      message: expect.stringContaining(
        'spec.filesFrom[0]: the operator itself writes the ConfigMap villa-configuration',
      ),
    });
  });

  test('a key that is not a file blocks the configuration', async () => {
    const { applied, outcome } = await sync({
      spec: { filesFrom },
      named: { rooms: { data: { 'a.sh': '' } } },
    });
    expect(applied).toEqual([]);
    expect(outcome).toMatchObject({ type: 'Stalled', reason: 'InvalidConfiguration' });
  });

  test.each([
    ['a: [\n', 'spec.filesFrom[0], key hall.yaml of the ConfigMap rooms, line 2, column 1: '],
    [
      'a: !include hall.yaml\n',
      'spec.filesFrom[0], key hall.yaml of the ConfigMap rooms, line 1, column 13: the files include',
    ],
    ['a: !secret b\n', 'b (spec.filesFrom[0], key hall.yaml of the ConfigMap rooms, line 1, column 12)'],
  ])('a mistake in %j is reported with the ConfigMap and its key', async (text, words) => {
    const spec = { filesFrom, configuration: 'a: !include hall.yaml\n' };
    const { outcome } = await sync({ spec, named: { rooms: { data: { 'hall.yaml': text } } } });
    expect((outcome as { message: string }).message).toContain(words);
  });

  test('a ConfigMap that many entries use is read once, and a text of it parsed once', async () => {
    const many = Array.from({ length: 32 }, (_, index) => ({
      configMapRef: { name: 'rooms' },
      folder: `packages/${index}`,
    }));
    const named = { rooms: { data: { 'hall.yaml': 'a: 1\n' } } };
    const { found, data } = await sync({ spec: { filesFrom: many }, named });
    expect(found.filter((name) => name === 'rooms')).toHaveLength(1);
    expect(Object.keys(data).filter((key) => key.endsWith('-shall.yaml'))).toHaveLength(32);
    const files = Object.fromEntries(many.map(({ folder }) => [`${folder}/hall.yaml`, 'a: 1\n']));
    const parse = jest.fn(parseHubYaml);
    generateConfiguration({ configuration: '', files, hasSecrets: false }, undefined, parse);
    expect(parse.mock.calls.filter(([text]) => text === 'a: 1\n')).toHaveLength(1);
  });

  test('at most 500 files are read', async () => {
    const data = Object.fromEntries(Array.from({ length: 501 }, (_, index) => [`f${index}.yaml`, '']));
    const { outcome } = await sync({ spec: { filesFrom }, named: { rooms: { data } } });
    expect(outcome).toMatchObject({
      type: 'Stalled',
      message: expect.stringMatching(/^spec\.files and spec\.filesFrom have 501 files, .* at most 500/),
    });
    const { 'f0.yaml': _, ...fewer } = data;
    expect(await sync({ spec: { filesFrom }, named: { rooms: { data: fewer } } })).toMatchObject({
      applied: ['ConfigMap villa-configuration'],
    });
  });
});

describe('configurationModule', () => {
  test('a HubSecrets that appears while the texts are read is in the marker', async () => {
    const lateSecrets = { 'villa-secrets': { 'secrets.yaml': secretsYaml({ login: 'x' }).text } };
    const cluster = { spec: { configuration: 'a: !secret login\n' }, hubSecrets: hubSecrets(), lateSecrets };
    const { text } = await sync(cluster);
    expect(text).toContain('secrets: !secret hub_operator_hash');
  });

  test('generates the ConfigMap without a Hub, and waits for it', async () => {
    const { outcome, applied } = await sync();
    expect(applied).toEqual(['ConfigMap villa-configuration']);
    expect(outcome).toMatchObject({
      type: 'Waiting',
      reason: 'HubNotFound',
      status: { configHash: expect.stringMatching(/^sha256:/) },
    });
  });

  test('restores the parts of the published content while there is no new one', async () => {
    const files = withPartFiles({ 'configuration.yaml': 'logger:\n', 'packages/a.yaml': 'counter:\n' });
    const binaryData = { '.packed': packed(files).toString('base64') };
    const { applied, outcome } = await sync({
      hub: aHub(),
      spec: { configuration: 'a: [\n' },
      published: {},
      configMaps: {
        'villa-configuration': { metadata: { name: 'villa-configuration' }, data: {}, binaryData },
      },
    });
    expect(outcome).toMatchObject({ type: 'Stalled', reason: 'InvalidConfiguration' });
    expect(applied).toEqual(
      objectNames('villa')
        .configurationParts()
        .map((part) => `ConfigMap ${part}`),
    );
  });

  test('generates it for a Hub that cannot be used yet, and is not ready', async () => {
    const { applied, outcome } = await sync({ hub: aHub() });
    expect(applied).toEqual(['ConfigMap villa-configuration']);
    expect(outcome).toMatchObject({ type: 'Waiting', reason: 'TokenNotAvailable' });
  });

  test.each([
    ['no HubSecrets', {}],
    [
      'a HubSecrets without the key',
      { 'villa-secrets': { 'secrets.yaml': secretsYaml({ other: 'x' }).text } },
    ],
  ])('%s: a missing secret that is used blocks the configuration', async (_, secrets) => {
    const { outcome, applied } = await sync({ spec: { configuration: 'a:\n  b: !secret login\n' }, secrets });
    expect(applied).toEqual([]);
    expect(outcome).toMatchObject({
      type: 'Waiting',
      reason: 'KeyNotFound',
      message: expect.stringContaining(
        'login (spec.configuration, line 2, column 14). Add them to a HubSecrets.',
      ),
    });
  });

  test.each([
    ['has been deleted', secretsYaml({ login: 'x' }).text, undefined],
    [
      'gives the key no more',
      writeSecretsYaml(new Map(), 'salt', new Map([['login', 'x']])).text,
      hubSecrets(),
    ],
  ])('a HubSecrets that %s blocks the configuration', async (_, text, writer) => {
    const { applied, outcome } = await sync({
      spec: { configuration: 'a: !secret login\n' },
      secrets: { 'villa-secrets': { 'secrets.yaml': text } },
      ...(writer && { hubSecrets: writer }),
    });
    expect(applied).toEqual([]);
    expect(outcome).toMatchObject({ type: 'Waiting', reason: 'KeyNotFound' });
  });

  describe('the secrets that need a restart', () => {
    const { text, hash } = secretsYaml({ login: 'x' });
    const secrets = { 'villa-secrets': { 'secrets.yaml': text } };
    const spec = { configuration: 'a: !secret login\n' };
    const restart = async (cluster: Cluster) =>
      (await sync({ spec, secrets, hubSecrets: hubSecrets(), ...cluster })).annotations[
        `${GROUP}/restart-secrets-hash`
      ];
    const published = {
      [`${GROUP}/restart-hash`]: 'sha256:c',
      [`${GROUP}/restart-secrets-hash`]: 'sha256:s',
    };

    test('are those of the Secret', async () => {
      expect(await restart({})).toBe(hash);
      expect(await restart({ published, hubSecrets: hubSecrets() })).toBe(hash);
    });

    test('stay as they are with autoRestart: false', async () => {
      expect(await restart({ published, hubSecrets: hubSecrets({ autoRestart: false }) })).toBe('sha256:s');
      // The first secrets are those with which the hub starts.
      expect(await restart({ hubSecrets: hubSecrets({ autoRestart: false }) })).toBe(hash);
    });

    test('are none while the configuration uses none', async () => {
      expect(await restart({ spec: { configuration: '' } })).toBeUndefined();
    });
  });

  describe('with the database of the recorder in a Secret', () => {
    const url = 'postgresql://u:hunter22@db/ha';
    const spec = { recorder: { databaseSecretRef: { name: 'db', key: 'database_url' } } };
    const db = { db: { database_url: url } };

    test('the URL reaches the hub through its secrets, and not through the ConfigMap', async () => {
      const { applied, text, secretsYaml: written } = await sync({ spec, secrets: db });
      expect(applied).toEqual(['Secret villa-secrets', 'ConfigMap villa-configuration']);
      expect(text).toContain('recorder: {db_url: !secret hub_operator_recorder}');
      expect(text).not.toContain('hunter22');
      expect(written).toContain(`"hub_operator_recorder": "${url}"\n`);
    });

    test.each([
      [
        'the Secret',
        {},
        'SecretNotFound',
        'the Secret db in spec.recorder.databaseSecretRef: it does not exist',
      ],
      ['its key', { db: {} }, 'KeyNotFound', 'the key database_url of the Secret db'],
    ])('%s may be missing, which blocks the configuration', async (_, secrets, reason, message) => {
      const { applied, outcome } = await sync({ spec, secrets });
      expect(applied).toEqual([]);
      expect(outcome).toMatchObject({ type: 'Waiting', reason, message: expect.stringContaining(message) });
    });

    test('the HubSecrets of the hub writes it, if there is one', async () => {
      const { applied, outcome, requeued } = await sync({ spec, secrets: db, hubSecrets: hubSecrets() });
      expect(applied).toEqual([]);
      expect(requeued).toEqual(['HubSecrets villa']);
      expect(outcome).toMatchObject({ type: 'Waiting', reason: 'KeyNotFound' });
      const written = secretsYaml({ hub_operator_recorder: url }).text;
      const later = await sync({
        spec,
        secrets: { ...db, 'villa-secrets': { 'secrets.yaml': written } },
        hubSecrets: hubSecrets(),
      });
      expect(later.applied).toEqual(['ConfigMap villa-configuration']);
      expect(later.requeued).toEqual([]);
    });

    test('a broken configuration removes no URL', async () => {
      const before = secretsYaml({ hub_operator_recorder: url }).text;
      const secrets = { 'villa-secrets': { 'secrets.yaml': before } };
      const { applied, outcome } = await sync({ spec: { configuration: 'a: [' }, secrets });
      expect(applied).toEqual([]);
      expect(outcome.reason).toBe('InvalidConfiguration');
    });

    test('a URL that the published configuration uses stays until another one is published', async () => {
      const before = secretsYaml({ hub_operator_recorder: url }).text;
      const configMaps = {
        'villa-configuration': {
          data: { 'configuration.yaml': 'recorder: {db_url: !secret hub_operator_recorder}' },
        },
      };
      const { secretsYaml: after } = await sync({
        secrets: { 'villa-secrets': { 'secrets.yaml': before } },
        configMaps,
      });
      expect(after).toContain('hunter22');
      expect(after).toContain('"hub_operator_kept": "hub_operator_recorder"');
    });

    test('a URL that is no longer needed is removed from the secrets', async () => {
      const before = secretsYaml({ hub_operator_recorder: url }).text;
      const { secretsYaml: after } = await sync({ secrets: { 'villa-secrets': { 'secrets.yaml': before } } });
      expect(after).not.toContain('hunter22');
    });

    describe('a former URL, which the hub may still quote,', () => {
      const present = secretsYaml({ hub_operator_recorder: url });
      const former = ['postgresql://u:former@db/ha'];
      const secrets = {
        ...db,
        'villa-secrets': { 'secrets.yaml': present.text, '.former-values': writeFormerValues(former) },
      };
      /** The content that the hub has accepted, with these secrets. */
      const accepted = (hash: string) => {
        const marker = { configuration: 'sha256:c', secrets: hash };
        const loaded = JSON.stringify({ marker, sections: {}, pending: [], mustRestart: false });
        return { 'villa-configuration-accepted': { metadata: {}, data: { '.loaded': loaded } } };
      };

      test('is forgotten when the hub has loaded the current one', async () => {
        const loaded = { spec, secrets, secretsOf: 'HubConfiguration', configMaps: accepted(present.hash) };
        expect(await sync(loaded)).toMatchObject({ former: [], secretsYaml: present.text });
      });

      test('stays masked until then', async () => {
        const before = {
          spec,
          secrets,
          secretsOf: 'HubConfiguration',
          configMaps: accepted('sha256:before'),
        };
        expect(await sync(before)).toMatchObject({ former, secretsYaml: present.text });
      });

      test('is left alone beside the values of a deleted HubSecrets', async () => {
        const left = { spec, secrets, secretsOf: 'HubSecrets', configMaps: accepted(present.hash) };
        expect(await sync(left)).toMatchObject({ former, applied: ['ConfigMap villa-configuration'] });
      });
    });

    test('an additional database is reported once for each version of the spec', async () => {
      const both = { recorder: { ...spec.recorder, database: 'sqlite://' } };
      const { outcome, text } = await sync({ spec: both, secrets: db, hub: aHub() });
      expect(outcome.events).toEqual([
        {
          type: 'Warning',
          reason: 'RecorderOverridden',
          message: expect.stringContaining('the Secret is used'),
        },
      ]);
      expect(text).toContain('!secret hub_operator_recorder');
      const later = await sync({ spec: both, secrets: db, hub: aHub(), status: { observedGeneration: 1 } });
      expect(later.outcome.events).toEqual([]);
    });
  });
});

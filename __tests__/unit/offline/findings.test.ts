import { stringify as stringifyAs } from 'yaml';
import { unbounded } from '../../../operator/base/bounded-task';
import { findingsOf } from '../../../operator/offline/findings';
import { type Manifest, readManifests } from '../../../operator/offline/manifests';
import type { CustomResource } from '../../../operator/kinds/resource';
import { automations } from '../../../operator/sync/config-entities/automation';
import { review } from '../../../operator/webhook/review';
import { creation, FakeClusterState, ours } from '../webhook/requests';

const acting = {
  alias: 'Porch',
  triggers: [{ trigger: 'time', at: '12:00:00' }],
  actions: [{ action: 'light.turn_on' }],
};
const automation = (name: string, spec: object = {}, metadata = {}) =>
  given(ours('HubAutomation', name, { ...acting, ...spec }, metadata));
const configuration = (spec: object) => given(ours('HubConfiguration', 'main', spec));
const secrets = (...secretRefs: object[]) => given(ours('HubSecrets', 'keys', { secretRefs }));

const stringify = (value: unknown): string => stringifyAs(value, { version: '1.1' });

/** Returns a resource as a user writes it. */
function given({ apiVersion, kind, metadata: { name, namespace }, spec }: CustomResource): object {
  return { apiVersion, kind, metadata: { name, namespace }, spec };
}

const manifestsOf = (objects: readonly object[]): Manifest[] =>
  objects.flatMap((object, index) => readManifests(`${index}.yaml`, stringify(object))) as Manifest[];

/** Returns the findings of several objects in order, as `error spec.id: message`. */
async function found(...objects: object[]): Promise<string[]> {
  const findings = await findingsOf(manifestsOf(objects), unbounded);
  return findings.map(
    ({ severity, field, message }) => `${severity} ${field === undefined ? '' : `${field}: `}${message}`,
  );
}

describe('findingsOf', () => {
  test('resources without a fault have no findings, in any order and without their Hub', async () => {
    expect(
      await found(
        automation('porch'),
        automation('attic'),
        configuration({ configuration: 'logger:\n' }),
        given(ours('HubFloor', 'ground', { name: 'Ground' })),
      ),
    ).toEqual([]);
  });

  test('have the line, the file and the object', async () => {
    const text = stringify([automation('porch', { mode: 'twice' })][0]);
    const [finding] = await findingsOf(
      readManifests('a.yaml', `# first\n---\n${text}`) as Manifest[],
      unbounded,
    );
    expect(finding).toMatchObject({
      file: 'a.yaml',
      line: `# first\n---\n${text}`.split('\n').findIndex((each) => each.includes('mode')) + 1,
      object: 'HubAutomation home/porch',
      field: 'spec.mode',
    });
  });

  test.each([
    [{ type: 'kubernetes.io/service-account-token' }, 'has the type kubernetes.io/service-account-token'],
    [{ metadata: { labels: { 'app.kubernetes.io/managed-by': 'hub-operator' } } }, 'is the operator’s own'],
  ])('report that no resource may refer to a Secret with %j', async (marks, words) => {
    const { metadata, ...rest } = marks as { metadata?: object; type?: string };
    const named = { name: 'vault', namespace: 'home' };
    const secret = { apiVersion: 'v1', kind: 'Secret', metadata: { ...named, ...metadata }, ...rest };
    const naming = [
      secrets({ name: 'vault' }),
      configuration({ configuration: '', recorder: { databaseSecretRef: { name: 'vault' } } }),
      given(
        ours('HubIntegration', 'mqtt', {
          domain: 'mqtt',
          configuration: { password: { secretKeyRef: { name: 'vault', key: 'a' } } },
        }),
      ),
    ];
    const messages = await found(secret, ...naming);
    expect(messages).toHaveLength(naming.length);
    for (const message of messages)
      expect(message).toContain(`The Secret vault that the spec names ${words}`);
  });

  test('report that only a Hub may refer to its Secrets', async () => {
    const hubOf = (name: string, spec: object, namespace = 'home') => ({
      apiVersion: 'hub-operator.dev/v1',
      kind: 'Hub',
      metadata: { name, namespace },
      spec: { version: '2026.11.0', backup: { passwordSecretRef: { name: 'backups' } }, ...spec },
    });
    const cabin = hubOf('cabin', {});
    const barn = (login: string) =>
      hubOf('barn', { bootstrap: { credentials: { secretRef: { name: login } } } });
    const integration = (name: string, secret: string) =>
      given(
        ours('HubIntegration', name, {
          domain: 'mqtt',
          configuration: { password: { secretKeyRef: { name: secret, key: 'a' } } },
        }),
      );
    const refused = 'error The Secret %s that the spec names is that of the Hub cabin';
    const way = ': store the value that the hub needs in another Secret.';
    expect(await found(integration('a', 'cabin-admin'), integration('b', 'backups'), cabin)).toEqual([
      `${refused.replace('%s', 'cabin-admin')}${way}`,
      `${refused.replace('%s', 'backups')}, which names it in spec.backup.passwordSecretRef${way}`,
    ]);
    expect(await found(cabin, barn('cabin-api-token'))).toEqual([
      `${refused.replace('%s', 'cabin-api-token')}${way}`,
    ]);
    expect(await found(cabin, barn('cabin-admin'))).toEqual([]);
    expect(await found(integration('a', 'cabin-admin'), hubOf('cabin', {}, 'other'))).toEqual([]);
  });

  test.each(['villa-secrets', 'villa-api-token', 'villa-admin'])(
    'report that a resource may not refer to %s, which is for its Hub, and not that it depends on it',
    async (name) => {
      const password = { secretKeyRef: { name, key: 'a' } };
      const refused = [
        secrets({ name, keys: ['a'] }),
        configuration({ configuration: '', recorder: { databaseSecretRef: { name } } }),
        given(ours('HubIntegration', 'mqtt', { domain: 'mqtt', configuration: { password } })),
      ];
      const messages = await found(...refused);
      expect(messages).toHaveLength(refused.length);
      for (const message of messages)
        expect(message).toContain(`The Secret ${name} that the spec names is the operator’s own`);
      expect(await found(configuration({ configuration: '' }), automation('porch'))).toEqual([]);
    },
  );

  test.each([
    ['HubAutomation', 'porch', acting],
    ['HubScene', 'porch', { name: 'Porch', entities: [] }],
    ['HubScript', 'porch_light', { alias: 'Porch', sequence: [{ delay: 1 }] }],
  ])('report of a second %s with the id of another the same as the webhook', async (kind, id, spec) => {
    const [first, second] = ['first', 'second'].map((name) => ours(kind, name, { ...spec, id })) as [
      CustomResource,
      CustomResource,
    ];
    const { refusal } = review(creation(second), new FakeClusterState([first]));
    expect(refusal).toBeDefined();
    expect(await found(given(first), given(second))).toEqual([
      `error ${refusal!.field}: ${refusal!.message}`,
    ]);
  });

  test('report the warnings of the webhook', async () => {
    const chat = 'chat_id: 90071992547409931';
    const text = `${stringify(automation('porch', { triggers: [{ trigger: 'state', to: true }] }))}  variables: { ${chat} }\n`;
    const recorder = { database: 'sqlite:////config/a.db', databaseSecretRef: { name: 'db' } };
    const source = configuration({ configuration: 'sensor: !secret a\nlight: !secret b\n', recorder });
    const [porch, main] = [readManifests('a.yaml', text)[0] as Manifest, manifestsOf([source])[0]!];
    const keys = manifestsOf([secrets({ name: 'all', keys: ['a'] })]);

    const state = new FakeClusterState();
    state.secrets = { values: new Map([['a', '']]), kept: new Set(), hash: '', salt: '' };
    const expected = [porch, main].flatMap(({ object }) => {
      const stored = object as unknown as CustomResource;
      return review(creation(stored), state).warnings;
    });
    expect(expected).toHaveLength(4);

    const findings = await findingsOf([porch, main, ...keys], unbounded);
    // The reconciliation rejects such an integer.
    expect(findings.filter(({ severity }) => severity === 'error').map(({ message }) => message)).toEqual([
      expect.stringContaining('.chat_id is the integer 90071992547409931'),
    ]);
    expect(findings.map(({ message }) => message).sort()).toEqual([...expected].sort());
    const line = (path: string) => text.split('\n').findIndex((each) => each.includes(path)) + 1;
    expect(findings.find(({ message }) => message.includes('chat_id'))?.line).toBe(line('chat_id'));
  });

  test('report parts that the hub leaves out, and parts that are not checked', async () => {
    const files = { 'packages/a/x.yaml': 'counter:\n', 'packages/b/x.yaml': 'counter:\n' };
    const text = `homeassistant:\n  packages: !include_dir_named packages\nsensor: !include_dir_list ${'d'.repeat(300)}\n`;
    expect(await found(configuration({ configuration: text, files }))).toEqual([
      'warning spec.configuration, line 2, column 32: the files packages/a/x.yaml, packages/b/x.yaml have one name, x, and the hub loads only one of them. Rename the others.',
      expect.stringMatching(
        /^warning spec\.configuration, line 3, column 27: includes the folder d+…, whose path has 300 /,
      ),
    ]);
  });

  describe('files of ConfigMaps', () => {
    const filesFrom = [{ configMapRef: { name: 'rooms' }, folder: 'packages' }];
    const text = 'homeassistant:\n  packages: !include_dir_named packages\n';
    const source = configuration({ configuration: text, filesFrom });
    const configMap = (data: object, namespace = 'home') => ({
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: { name: 'rooms', namespace },
      data,
    });

    test('are read when the ConfigMap is among the manifests', async () => {
      expect(await found(source, configMap({ 'hall.yaml': 'light: []\n' }))).toEqual([]);
      expect(await found(source, configMap({ 'hall.yaml': 'light: [\n' }))).toEqual([
        expect.stringContaining(
          'error spec.filesFrom[0], key hall.yaml of the ConfigMap rooms, line 2, column 1: ',
        ),
      ]);
      expect(await found(source, configMap({ 'hall.sh': '' }))).toEqual([
        expect.stringContaining('error spec.filesFrom[0], key hall.sh of the ConfigMap rooms: the file'),
      ]);
    });

    test.each([
      ['no ConfigMap', []],
      ['one in another namespace', [configMap({ 'hall.yaml': 'light: [\n' }, 'office')]],
    ])('%s: the unchecked part is reported, and included files may exist', async (_, others) => {
      expect(await found(source, ...others)).toEqual([
        'warning spec.filesFrom[0]: the ConfigMap rooms is not in these files, so its files are not checked: name its file as well, or check what kubectl kustomize prints.',
      ]);
    });

    test.each(['villa-configuration', 'villa-configuration-7', 'villa-delivery-0', 'attic-configuration'])(
      '%s is written by the operator, and cannot be a source',
      async (name) => {
        const self = configuration({ filesFrom: [{ configMapRef: { name } }] });
        const attic = ours('Hub', 'attic', {});
        expect(await found(self, attic)).toContain(
          `error spec.filesFrom[0]: the operator itself writes the ConfigMap ${name}, and each of its changes would be another one of the configuration. Name one of your own.`,
        );
        expect((await found(self, attic)).join()).not.toContain('not in these files');
      },
    );

    test('use secrets that no HubSecrets has', async () => {
      const keys = secrets({ name: 'all', keys: ['a'] });
      const data = { 'hall.yaml': 'light: [{name: !secret a}, {name: !secret b}]\n' };
      expect(await found(source, keys, configMap(data))).toEqual([
        'warning spec.filesFrom[0], key hall.yaml of the ConfigMap rooms, line 1, column 43: no HubSecrets of the Hub villa gives the key b of !secret: add it to one.',
      ]);
    });
  });

  test('two resources of another kind for one object are an error, since the reconciliation rejects the second', async () => {
    const floors = ['first', 'second'].map((name) => given(ours('HubFloor', name, { name: 'Ground floor' })));
    expect(await found(...floors)).toEqual([
      'error HubFloor first owns the same object in the Hub villa already: delete one of the two, or give this one another spec.name.',
    ]);
    expect(
      await found(configuration({}), { ...configuration({}), metadata: { name: 'b', namespace: 'home' } }),
    ).toEqual([expect.stringContaining('error HubConfiguration main owns the same object')]);
  });

  test.each([
    ['another namespace', automation('porch', {}, { namespace: 'office' })],
    ['another hub', automation('other', { id: 'porch', hubRef: { name: 'office' } })],
  ])('the same id in %s is not a duplicate', async (_, other) => {
    expect(await found(automation('porch'), other)).toEqual([]);
  });

  test('a resource that occurs twice is a warning, and not a duplicate', async () => {
    expect(await found(automation('porch'), automation('porch'))).toEqual([
      'warning A HubAutomation of the same namespace and name is defined above, and this one replaces it: remove one.',
    ]);
  });

  test('a resource that occurs twice has only the id of the last one', async () => {
    const [first, last] = [automation('porch', { id: 'old' }), automation('porch', { id: 'new' })];
    const replaced = expect.stringMatching(/^warning A HubAutomation /);
    expect(await found(first, last, automation('attic', { id: 'old' }))).toEqual([replaced]);
    expect(await found(first, last, automation('attic', { id: 'new' }))).toEqual([
      replaced,
      expect.stringMatching(/^error spec.id: HubAutomation porch has the id new /),
    ]);
  });

  test.each([
    [
      'a HubConfiguration that is no YAML',
      configuration({ configuration: 'a: [b\n' }),
      /^error spec.configuration, line 2, column 1: /,
    ],
    [
      'a file of it',
      configuration({ files: { 'a.yaml': 'a: 1\na: 2\n' } }),
      /^error spec.files\[a.yaml\], line 2, column 1: the key a occurs twice\.$/,
    ],
    [
      'a script of the operator',
      configuration({ configuration: 'script:\n  hub_operator_configuration: {}\n' }),
      /^error The script hub_operator_configuration /,
    ],
    [
      'a section http: that cannot be sent to a hub',
      configuration({ configuration: 'http:\n  prot: 1\n' }),
      /^warning The section http: .* no setting prot\.$/,
    ],
    [
      'a folder that it includes and has no file of',
      configuration({ configuration: 'homeassistant:\n  packages: !include_dir_named packages\n' }),
      /^warning spec.configuration, line 2, column 32: includes the folder packages, which spec.files does not have: /,
    ],
    [
      'a file that it includes and does not have',
      configuration({ files: { 'a.yaml': 'sensor: !include sensrs.yaml\n' } }),
      /^warning spec.files\[a.yaml\], line 1, column 18: includes the file sensrs.yaml, which spec.files does not have: /,
    ],
    [
      'an action that is neither an object nor a template',
      automation('porch', { actions: [5] }),
      /^error .*actions/,
    ],
    [
      'a state among attributes',
      given(
        ours('HubScene', 'a', {
          name: 'A',
          entities: [{ entity_id: 'light.a', state: 'on', attributes: { state: 'off' } }],
        }),
      ),
      /^error The attributes of light.a contain "state"/,
    ],
    [
      'JSON of an integration',
      given(
        ours('HubIntegration', 'a', {
          domain: 'mqtt',
          configuration: { x: { secretKeyRef: { name: 'a', key: 'b' } }, y: { jsonValue: '{' } },
        }),
      ),
      /^error spec.configuration.y.jsonValue is not valid JSON/,
    ],
    [
      'a part of the pod that the operator needs',
      {
        ...given(ours('Hub', 'villa')),
        spec: { podTemplate: { metadata: { labels: { 'app.kubernetes.io/instance': 'other' } } } },
      },
      /^error spec.podTemplate /,
    ],
    [
      'a mount path that is a number',
      {
        ...given(ours('Hub', 'villa')),
        spec: {
          podTemplate: {
            spec: { containers: [{ name: 'hub', volumeMounts: [{ name: 'x', mountPath: 5 }] }] },
          },
        },
      },
      'error spec.podTemplate.spec.containers.volumeMounts[0]: mountPath must be text: quote it.',
    ],
    [
      'a key that the hub does not take',
      secrets({ name: 'a' }, { name: 'b', keys: ['x', 'logger'] }),
      'error The key logger of the Secret b in spec.secretRefs[1] is ignored by the hub under the name logger: give it another name by items.',
    ],
    [
      'another version of the group',
      { ...automation('a'), apiVersion: 'hub-operator.dev/v2' },
      'error apiVersion: hub-operator.dev/v2 is not served: use hub-operator.dev/v1.',
    ],
    [
      'a kind that does not exist',
      { ...automation('a'), kind: 'HubAutomaton' },
      /^error kind: hub-operator.dev has no kind HubAutomaton: use one of Hub, /,
    ],
    [
      'a resource without a spec',
      { ...automation('a'), spec: undefined },
      'error spec: is required: add it.',
    ],
  ])('%s is found', async (_, object, expected) => {
    expect(await found(object)).toEqual([
      typeof expected === 'string' ? expected : expect.stringMatching(expected),
    ]);
  });

  test('a fault of an integration has the line of its field', async () => {
    const text = stringify(
      given(ours('HubIntegration', 'a', { domain: 'mqtt', options: { broker: { jsonValue: '{' } } })),
    );
    const findings = await findingsOf(readManifests('a.yaml', text) as Manifest[], unbounded);
    expect(findings.map(({ line }) => line)).toEqual([
      text.split('\n').findIndex((each) => each.includes('jsonValue')) + 1,
    ]);
  });

  test('a field without a value is absent', async () => {
    expect(await found(given(ours('HubPerson', 'eva', { name: 'Eva', username: null })))).toEqual([]);
    expect(await found(given(ours('HubPerson', 'eva', { name: 'Eva', username: 5 })))).toHaveLength(1);
  });

  test('a helper that its hub could not load is an error, and not a warning as well', async () => {
    const spec = { type: 'text', name: 'Code', text: { pattern: '[' } };
    expect(await found(given(ours('HubHelper', 'code', spec)))).toEqual([
      expect.stringMatching(/^error (spec\.text\.pattern: )+a set is not closed/),
    ]);
  });

  test('a fault that a rule of the schema reports is not repeated in the words of the reconciliation', async () => {
    const integration = ours('HubIntegration', 'a', { domain: 'mqtt', configuration: { broker: {} } });
    expect(await found(given(integration))).toEqual([
      expect.stringMatching(/^error spec.configuration.broker: .*exactly one of/),
    ]);
  });

  test('a rule that fails is an error of that resource, without the text of the failure, and hides no other finding', async () => {
    const rule = jest.spyOn(automations, 'validate').mockImplementationOnce(() => {
      throw new TypeError('cannot use "hunter2"');
    });
    try {
      expect(await found(automation('porch'), automation('attic', { mode: 'twice' }))).toEqual([
        'error This HubAutomation cannot be checked (TypeError), a fault of hub-operator: report it.',
        expect.stringMatching(/^error spec.mode: /),
      ]);
    } finally {
      rule.mockRestore();
    }
  });

  test('a long configuration is also checked, since no API server waits', async () => {
    const source = configuration({ configuration: `a: !secret b\n${'# comment\n'.repeat(5_000)}` });
    expect(await found(source, secrets({ name: 'x', keys: ['a'] }))).toEqual([
      expect.stringContaining('gives the key b of !secret'),
    ]);
  });

  describe('the keys that a HubSecrets provides', () => {
    const source = configuration({ configuration: 'a: !secret one\n' });
    const missing = [expect.stringContaining('gives the key one of !secret')];
    const secret = (content: object) => ({
      apiVersion: 'v1',
      kind: 'Secret',
      metadata: { name: 'all', namespace: 'home' },
      ...content,
    });

    test.each([
      ['are not known without a HubSecrets', [], []],
      [
        'are not known if it takes all of a Secret that is not given',
        [secrets({ name: 'all' }, { name: 'b', keys: ['x'] })],
        [],
      ],
      [
        'are those of the Secret that is given',
        [secrets({ name: 'all' }), secret({ stringData: { one: 'hunter2' } })],
        [],
      ],
      ['are none of a Secret without data', [secrets({ name: 'all' }), secret({})], missing],
      [
        'are none of a Secret of another namespace',
        [secrets({ name: 'all' }), { ...secret({ data: { one: '' } }), metadata: { name: 'all' } }],
        [],
      ],
      ['are the names that it gives them', [secrets({ name: 'all', items: [{ key: 'x', as: 'one' }] })], []],
      [
        'are not those that it renames',
        [secrets({ name: 'all', items: [{ key: 'one', as: 'x' }] })],
        missing,
      ],
    ])('%s', async (_, others, expected) => {
      expect(await found(source, ...others)).toEqual(expected);
      expect(await found(...others, source)).toEqual(expected);
    });
  });

  test('objects of other groups are left alone', async () => {
    expect(await found({ ...automation('a'), apiVersion: 'example.org/v1', spec: 1 }, { a: 1 })).toEqual([]);
  });
});

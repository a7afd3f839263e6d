import type { V1Container, V1Pod } from '@kubernetes/client-node';
import {
  commandLine,
  expand,
  fieldValue,
  interpreterVariables,
  mapPath,
  mapValues,
  runsInFork,
  variables,
} from '../../../../sandbox/node/environment';
import type { Lookup } from '../../../../sandbox/node/lookup';

const pod: V1Pod = {
  metadata: {
    name: 'hub-0',
    namespace: 'home',
    uid: '1-2',
    annotations: { 'a/b': 'one', other: 'say "hi"' },
    labels: { app: 'hub' },
  },
  spec: { containers: [], nodeName: 'sandbox', serviceAccountName: 'default' },
  status: { podIP: '10.244.0.2', hostIP: '10.244.0.1' },
};

const lookup: Lookup = {
  configMap: (namespace, name) =>
    `${namespace}/${name}` === 'home/settings' ? { data: { zone: 'Europe/Paris' } } : undefined,
  secret: (namespace, name) =>
    `${namespace}/${name}` === 'home/login'
      ? { data: { password: Buffer.from('pä$$').toString('base64') } }
      : undefined,
  claim: () => undefined,
  volume: () => undefined,
};

const mounts = [
  { inside: '/config', outside: '/srv/volume' },
  { inside: '/config-map', outside: '/srv/map' },
];

test.each([
  ['/config', '/srv/volume'],
  ['/config/a/b.yaml', '/srv/volume/a/b.yaml'],
  ['/config-map/x', '/srv/map/x'],
  ['/configuration', '/configuration'],
  ['--config=/config', '--config=/config'],
  ['x/config', 'x/config'],
])('the path %s is %s on this machine', (value, mapped) => {
  expect(mapPath(value, mounts)).toBe(mapped);
});

test('the longest mounted path wins, for every order of the mounts', () => {
  const nested = [
    { inside: '/a', outside: '/one' },
    { inside: '/a/b', outside: '/two' },
  ];
  expect(mapPath('/a/b/c', nested)).toBe('/two/c');
  expect(mapPath('/a/b/c', nested.reverse())).toBe('/two/c');
});

test.each([
  ['$(A)-$(B)', '1-2'],
  ['$$(A)', '$(A)'],
  ['$(UNKNOWN)', '$(UNKNOWN)'],
  ['cost: $5', 'cost: $5'],
  ['$(A', '$(A'],
])('%s expands to %s', (value, expanded) => {
  expect(expand(value, { A: '1', B: '2' })).toBe(expanded);
});

test.each([
  ['metadata.name', 'hub-0'],
  ['metadata.namespace', 'home'],
  ['metadata.uid', '1-2'],
  ["metadata.annotations['a/b']", 'one'],
  ["metadata.annotations['none']", ''],
  ["metadata.labels['app']", 'hub'],
  ['metadata.annotations', 'a/b="one"\nother="say \\"hi\\""'],
  ['spec.nodeName', 'sandbox'],
  ['status.podIP', '10.244.0.2'],
  ['status.hostIP', '10.244.0.1'],
])('the field %s is %j', (path, value) => {
  expect(fieldValue(pod, path)).toBe(value);
});

test('an unknown field is refused by name', () => {
  expect(() => fieldValue(pod, 'spec.priority')).toThrow('fieldRef spec.priority is not supported');
});

const container = (part: Partial<V1Container>): V1Container => ({ name: 'hub', ...part });

describe('variables', () => {
  test('later ones win, and may use those before them', () => {
    const given = container({
      envFrom: [{ prefix: 'CM_', configMapRef: { name: 'settings' } }, { secretRef: { name: 'login' } }],
      env: [
        { name: 'FIRST', value: '$(CM_zone)/x' },
        { name: 'SECOND', value: '$(FIRST)/$(THIRD)' },
        { name: 'THIRD', value: '3' },
        { name: 'POD_IP', valueFrom: { fieldRef: { fieldPath: 'status.podIP' } } },
        { name: 'PASSWORD', valueFrom: { secretKeyRef: { name: 'login', key: 'password' } } },
        { name: 'HOME', value: '/other' },
        { name: 'EMPTY' },
      ],
    });
    expect(variables(given, pod, { HOME: '/home', LANG: 'C' }, lookup)).toEqual({
      LANG: 'C',
      HOME: '/other',
      CM_zone: 'Europe/Paris',
      password: 'pä$$',
      FIRST: 'Europe/Paris/x',
      SECOND: 'Europe/Paris/x/$(THIRD)',
      THIRD: '3',
      POD_IP: '10.244.0.2',
      PASSWORD: 'pä$$',
      EMPTY: '',
    });
  });

  test.each([
    [{ secretKeyRef: { name: 'login', key: 'token' } }, "couldn't find key token in Secret home/login"],
    [{ secretKeyRef: { name: 'none', key: 'token' } }, 'secret "none" not found'],
    [{ configMapKeyRef: { name: 'settings', key: 'x' } }, "couldn't find key x in ConfigMap home/settings"],
    [{ configMapKeyRef: { name: 'none', key: 'x' } }, 'configmap "none" not found'],
  ])('what is missing is named: %j', (valueFrom, message) => {
    expect(() => variables(container({ env: [{ name: 'X', valueFrom }] }), pod, {}, lookup)).toThrow(message);
  });

  test('an optional source may be missing', () => {
    const given = container({
      envFrom: [{ secretRef: { name: 'none', optional: true } }],
      env: [
        { name: 'X', valueFrom: { secretKeyRef: { name: 'login', key: 'token', optional: true } } },
        { name: 'Y', valueFrom: { configMapKeyRef: { name: 'none', key: 'x', optional: true } } },
      ],
    });
    expect(variables(given, pod, {}, lookup)).toEqual({});
  });

  test('values that are mounted paths are replaced for the process', () => {
    expect(mapValues({ A: '/config/x', B: 'no' }, mounts)).toEqual({ A: '/srv/volume/x', B: 'no' });
  });
});

describe('commandLine', () => {
  const hub = { hass: '/venv/bin/hass', emptyConfiguration: '/tmp/empty' };

  test('replaces variables before paths', () => {
    const given = container({ command: ['python3', '$(SCRIPT)'], args: ['/config-map/a', '$$(SCRIPT)'] });
    const values = { SCRIPT: '/config/run.py' };
    expect(commandLine(given, values, mounts, hub)).toEqual([
      'python3',
      '/srv/volume/run.py',
      '/srv/map/a',
      '$(SCRIPT)',
    ]);
  });

  test('without a command is the hub, with the volume at /config or a directory of its own', () => {
    expect(commandLine(container({}), {}, mounts, hub)).toEqual([
      hub.hass,
      '--config',
      '/srv/volume',
      '--skip-pip',
    ]);
    expect(commandLine(container({}), {}, [], hub)).toEqual([
      hub.hass,
      '--config',
      '/tmp/empty',
      '--skip-pip',
    ]);
  });
});

describe('runsInFork', () => {
  const hub = { hass: '/venv/bin/hass', venv: '/venv' };
  const environment = {
    ...interpreterVariables(hub.venv),
    HOME: '/home',
    SETUP_PORT: '20001',
    TZ: 'Asia/Tokyo',
  };

  test.each([
    ['a hub', [hub.hass, '--config', '/srv/volume'], {}, true],
    ['a script', ['python3', '-c', 'print()', 'one'], {}, true],
    ['a script that is missing', ['python3', '-c'], {}, false],
    ['an isolated script', ['python3', '-I', '-c', 'print()'], {}, true],
    ['an interpreter with other options', ['python3', '-S', '-c', 'print()'], {}, false],
    ['a module', ['python3', '-m', 'http.server'], {}, false],
    ['another hub', ['/other/bin/hass'], {}, false],
    ['another program', ['sh', '-c', 'python3 -c 1'], {}, false],
    ['another search path', ['python3', '-c', ''], { PATH: '/usr/bin' }, false],
    ['another language', [hub.hass], { LANG: 'de_DE.UTF-8' }, false],
    ['a variable of the interpreter', [hub.hass], { PYTHONPATH: '/srv' }, false],
    ['a variable that a module may read', [hub.hass], { AIOHTTP_NO_EXTENSIONS: '1' }, false],
  ])('%s', (_what, command, added, expected) => {
    expect(runsInFork(command, { ...environment, ...added }, hub)).toBe(expected);
  });
});

import { themeNames } from '../../../operator/client/setup/community-content';
import { freshNamespace, until } from '../../cluster';
import { configuration, Home, hub, hubSecrets, secret } from '../../cluster/home';
import { restoreOnboarded } from '../../cluster/onboarded-volume';
import { startTestOperator, type TestOperator } from '../../cluster/operator';
import { ConfiguredHub } from '../hub/configured-hub';

// Files of a configuration in a user's ConfigMaps, as Kustomize generates them from folders.

const MAIN = `
homeassistant:
  packages: !include_dir_named packages
frontend:
  themes: !include_dir_merge_named themes
`;

const number = (name: string, max: number): string => `input_number: {${name}: {min: 0, max: ${max}}}\n`;

const configMap = (name: string, data: Readonly<Record<string, string>>) => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name },
  data,
});

const rooms = (more: Readonly<Record<string, string>> = {}) =>
  configMap('rooms', {
    'attic.yaml': number('attic', 7),
    'hall.yaml': number('hall', 8),
    'cellar.yaml': 'input_boolean: {cellar: {name: !secret lamp}}\n',
    ...more,
  });
const themes = configMap('themes', { night: 'Night: {primary-color: "#123456"}\n', notes: 'not a file' });

const FROM = [
  { configMapRef: { name: 'rooms' }, folder: 'packages/house' },
  { configMapRef: { name: 'changes' }, folder: 'packages/house', optional: true },
  { configMapRef: { name: 'themes' }, folder: 'themes', items: [{ key: 'night', path: 'night.yaml' }] },
];

const immutable = (name: string, data: Readonly<Record<string, string>>) => ({
  ...configMap(name, data),
  immutable: true,
});

const MIB = 1_024 * 1_024;

/** Returns files of this total size: one package among comments. */
function filling(bytes: number, count: number): Readonly<Record<string, string>> {
  const texts = Array.from({ length: count }, (_, index) => number(`filled_${index}`, 9));
  const size = Math.floor(bytes / count);
  const padded = texts.map((text, index) => {
    const whole = index < count - 1 ? size : bytes - size * (count - 1);
    return `${text}#${'x'.repeat(whole - text.length - 2)}\n`;
  });
  return Object.fromEntries(padded.map((text, index) => [`filled_${index}.yaml`, text]));
}

const empty = (count: number) =>
  Object.fromEntries(Array.from({ length: count }, (_, index) => [`file_${index}.yaml`, '']));

let home: Home;
/** A home in another namespace, with equal names and without a Hub. */
let other: Home;
let operator: TestOperator;
let villa: ConfiguredHub;

const apply = (spec: object = {}) => home.apply(configuration('villa', MAIN, { filesFrom: FROM, ...spec }));

const failed = async (reason: string) =>
  (await home.ready('hubconfiguration', 'villa', { status: 'False', reason })).message;

beforeAll(async () => {
  home = new Home(await freshNamespace('files-from'));
  other = new Home(await freshNamespace('files-from-other'));
  const settings = { WATCH_NAMESPACES: `${home.namespace},${other.namespace}` };
  operator = await startTestOperator(home.namespace, { settings });
  await restoreOnboarded(home, 'villa');
  await home.apply(
    secret('words', { lamp: 'Lamp' }),
    hubSecrets('villa', 'villa', { secretRefs: [{ name: 'words' }] }),
    hub('villa'),
    rooms(),
  );
  await apply();
  villa = new ConfiguredHub(home, 'villa');
});

describe('spec.filesFrom', () => {
  test('waits for a ConfigMap, and continues when it exists', async () => {
    expect(await failed('ConfigMapNotFound')).toBe(
      'spec.filesFrom[2]: there is no ConfigMap themes. Create it. The last configuration stays.',
    );
    await home.apply(themes);
    await villa.loaded();
    await villa.connect();
    await villa.showsAttribute('input_number.attic', 'max', 7);
    await villa.showsAttribute('input_number.hall', 'max', 8);
    await villa.showsAttribute('input_boolean.cellar', 'friendly_name', 'Lamp');
    expect([...(await themeNames(villa.client))]).toContain('Night');
  });

  test('a change of a ConfigMap is loaded without a restart', async () => {
    const pod = await villa.podUid();
    await home.apply(rooms({ 'cellar.yaml': 'input_boolean: {cellar: {name: Deep}}\n' }));
    await villa.showsAttribute('input_boolean.cellar', 'friendly_name', 'Deep');
    await villa.loaded();
    expect(await villa.podUid()).toBe(pod);
    expect(await villa.status()).toMatchObject({ lastReloadMethod: 'hot-reload' });
  });

  test('a later entry wins over an earlier one, and files over all', async () => {
    const pod = await villa.podUid();
    await home.apply(configMap('changes', { 'attic.yaml': 'input_boolean: {attic: {name: Later}}\n' }));
    await villa.showsAttribute('input_boolean.attic', 'friendly_name', 'Later');
    await apply({ files: { 'packages/house/attic.yaml': 'input_boolean: {attic: {name: Mine}}\n' } });
    await villa.showsAttribute('input_boolean.attic', 'friendly_name', 'Mine');
    await villa.loaded();
    expect(await villa.podUid()).toBe(pod);
    await home.delete('configmap', 'changes');
    await apply();
    await villa.showsAttribute('input_number.attic', 'max', 7);
    await villa.loaded();
  });

  test('a mistake is reported with the ConfigMap and its key, and the home continues as it was', async () => {
    const pod = await villa.podUid();
    await home.apply(rooms({ 'hall.yaml': 'input_number: [' }));
    expect(await failed('InvalidConfiguration')).toMatch(
      /^spec\.filesFrom\[0\], key hall\.yaml of the ConfigMap rooms, line 1, column 16: /,
    );
    await home.apply(rooms({ 'hall.yaml': 'input_number: {hall: {minimum: 1}}\n' }));
    expect(await failed('CheckFailed')).toMatch(/packages\/house\/hall\.yaml, line 1/);
    await home.apply(rooms({ 'README.md': '' }));
    expect(await failed('InvalidConfiguration')).toMatch(
      /^spec\.filesFrom\[0\], key README\.md of the ConfigMap rooms: the file packages\/house\/README\.md is not allowed/,
    );
    await villa.showsAttribute('input_number.hall', 'max', 8);
    expect(await villa.podUid()).toBe(pod);
    await home.delete('configmap', 'rooms');
    await home.apply(rooms());
    await villa.loaded();
  });

  test('the ConfigMap that the operator generates cannot be one of its sources', async () => {
    const items = [{ key: 'configuration.yaml', path: 'own.yaml' }];
    await apply({ filesFrom: [...FROM, { configMapRef: { name: 'villa-configuration' }, items }] });
    expect(await failed('InvalidConfiguration')).toMatch(
      /^spec\.filesFrom\[3\]: the operator itself writes the ConfigMap villa-configuration/,
    );
    await apply();
    await villa.loaded();
  });

  test('an immutable ConfigMap is replaced by one of another name', async () => {
    const pod = await villa.podUid();
    const from = (name: string) => [...FROM, { configMapRef: { name }, folder: 'packages/fixed' }];
    await home.apply(immutable('fixed-1', { 'fixed.yaml': number('fixed', 1) }));
    await apply({ filesFrom: from('fixed-1') });
    await villa.loaded();
    await villa.connect();
    await villa.showsAttribute('input_number.fixed', 'max', 1);
    expect(await villa.podUid()).not.toBe(pod); // a new file needs a new pod
    await home.apply(immutable('fixed-2', { 'fixed.yaml': number('fixed', 2) }));
    await apply({ filesFrom: from('fixed-2') });
    await home.delete('configmap', 'fixed-1');
    await villa.showsAttribute('input_number.fixed', 'max', 2);
    await villa.loaded();
    expect(await villa.status()).toMatchObject({ lastReloadMethod: 'hot-reload' });
  });

  test('ConfigMaps with one name in two namespaces are kept apart', async () => {
    await other.apply(
      configMap('rooms', { 'other.yaml': number('other', 5) }),
      configuration('villa', MAIN, {
        filesFrom: [{ configMapRef: { name: 'rooms' }, folder: 'packages/house' }],
      }),
    );
    const filesOf = async (of: Home) =>
      Object.keys((await of.get('configmap', 'villa-configuration')).data ?? {}).filter((key) =>
        key.startsWith('-packages'),
      );
    await until('it is generated', () => other.exists('configmap', 'villa-configuration'));
    expect(await filesOf(other)).toEqual(['-packages-shouse-sother.yaml']);
    expect(await filesOf(home)).toContain('-packages-shouse-shall.yaml');
    await other.apply(configMap('rooms', { 'another.yaml': number('another', 5) }));
    await until('it is generated again', async () => (await filesOf(other)).join().includes('another'));
    expect((await filesOf(home)).join()).not.toContain('other');
    await home.delete('configmap', 'themes');
    await failed('ConfigMapNotFound');
    await home.apply(themes);
    await villa.loaded();
    expect((await other.condition('hubconfiguration', 'villa'))?.reason).toBe('HubNotFound');
  });

  test('32 entries name one ConfigMap', async () => {
    const many = (count: number) =>
      Array.from({ length: count }, (_, index) => ({
        configMapRef: { name: 'shared' },
        folder: `packages/copy ${index}`,
      }));
    await home.apply(configMap('shared', { 'shared.yaml': 'input_boolean: {shared: {name: "1"}}\n' }));
    const text = 'homeassistant: {packages: !include_dir_named "packages/copy 31"}\n';
    await home.apply(configuration('villa', text, { filesFrom: many(32) }));
    await villa.loaded();
    await villa.connect();
    await villa.showsAttribute('input_boolean.shared', 'friendly_name', '1');
    await home.apply(configMap('shared', { 'shared.yaml': 'input_boolean: {shared: {name: "2"}}\n' }));
    await villa.showsAttribute('input_boolean.shared', 'friendly_name', '2');
    await villa.loaded();
    await home.apply(configMap('shared', filling(MIB, 8)));
    expect(await failed('InvalidConfiguration')).toMatch(
      / have 335\d{5} bytes, and a configuration has at most /,
    );
    await villa.showsAttribute('input_boolean.shared', 'friendly_name', '2');
  });

  test('a ConfigMap of 1 MiB, the most that the API server accepts', async () => {
    const from = [...FROM, { configMapRef: { name: 'full' }, folder: 'packages/full' }];
    await home.apply(configMap('full', filling(MIB, 8)));
    await apply({ filesFrom: from });
    await villa.loaded();
    await villa.connect();
    await villa.showsAttribute('input_number.filled_7', 'max', 9);
    await home.apply(configMap('full', filling(MIB, 1)));
    expect(await failed('InvalidConfiguration')).toBe(
      'spec.filesFrom[3], key filled_0.yaml of the ConfigMap full has 1048576 bytes, and a file of a configuration that is too large for one ConfigMap has at most 921600: divide it. The last good configuration stays.',
    );
  });

  test('500 files are loaded, and for 501 the number is reported', async () => {
    const from = [...FROM, { configMapRef: { name: 'full' }, folder: 'many' }];
    // Three rooms and a theme complete the number.
    await home.apply(configMap('full', empty(496)));
    await apply({ filesFrom: from });
    await villa.loaded();
    await home.apply(configMap('full', empty(497)));
    expect(await failed('InvalidConfiguration')).toMatch(
      /^spec\.files and spec\.filesFrom have 501 files, and a configuration has at most 500: /,
    );
    await apply();
    await villa.loaded();
  });

  test('without its ConfigMap the hub keeps its files, also in its next pod', async () => {
    await home.delete('configmap', 'themes');
    expect(await failed('ConfigMapNotFound')).toMatch(/there is no ConfigMap themes/);
    await home.delete('pod', 'villa-0');
    await until('the hub has its files', async () => {
      await villa.connect();
      return [...(await themeNames(villa.client))].includes('Night');
    });
    await home.apply(themes);
    await villa.loaded();
    expect(await operator.failures()).toEqual([]);
  });
});

import { themeNames } from '../../../operator/client/setup/community-content';
import { freshNamespace, until } from '../../cluster';
import { configuration, Home, hub, hubSecrets, secret } from '../../cluster/home';
import { restoreOnboarded } from '../../cluster/onboarded-volume';
import { startTestOperator, type TestOperator } from '../../cluster/operator';
import { ConfiguredHub } from '../hub/configured-hub';

// Files of a configuration in ConfigMaps of a person, as Kustomize makes them of folders.

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

let home: Home;
let operator: TestOperator;
let villa: ConfiguredHub;

const apply = (spec: object = {}) => home.apply(configuration('villa', MAIN, { filesFrom: FROM, ...spec }));

const failed = async (reason: string) =>
  (await home.ready('hubconfiguration', 'villa', { status: 'False', reason })).message;

beforeAll(async () => {
  home = new Home(await freshNamespace('files-from'));
  operator = await startTestOperator(home.namespace);
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
  test('waits for a ConfigMap, and goes on when it is there', async () => {
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

  test('a mistake names the ConfigMap and its key, and the home goes on as it was', async () => {
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

  test('the ConfigMap that the operator makes of it is none of its sources', async () => {
    const items = [{ key: 'configuration.yaml', path: 'own.yaml' }];
    await apply({ filesFrom: [...FROM, { configMapRef: { name: 'villa-configuration' }, items }] });
    expect(await failed('InvalidConfiguration')).toMatch(
      /^spec\.filesFrom\[3\]: the operator itself writes the ConfigMap villa-configuration/,
    );
    await apply();
    await villa.loaded();
  });

  test('without its ConfigMap the hub keeps what it has, also in its next pod', async () => {
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

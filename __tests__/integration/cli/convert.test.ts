import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { systemClock } from '../../../operator/base/clock';
import { unchecked } from '../../../operator/client/connection/shape';
import { HubClient } from '../../../operator/client/hub-client';
import { themeNames } from '../../../operator/client/setup/community-content';
import { freshNamespace, mustKubectl } from '../../cluster';
import { BUNDLE } from '../../cluster/command-line';
import { cpuSecondsOfEnded } from '../../cluster/cpu-seconds';
import { Home, hub, secret } from '../../cluster/home';
import {
  CONVERTED_HELPERS,
  HOME_OF_HELPERS,
  homeInFolders,
  SMALL_HOME,
  writeHome,
} from '../../cluster/homes-to-convert';
import { HubToExport } from '../../cluster/hub-to-export';
import { restoreOnboarded } from '../../cluster/onboarded-volume';
import { startTestOperator } from '../../cluster/operator';
import { silentLog } from '../../cluster/silent-log';

let folder: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'convert-'));
});
afterAll(() => rm(folder, { recursive: true }));

interface Ran {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs the bundled command without a cluster. */
function convert(from: string, to: string, ...options: readonly string[]): Promise<Ran> {
  const args = [
    BUNDLE,
    'convert',
    join(folder, from),
    '--to',
    join(folder, to),
    '--hub',
    'villa',
    ...options,
  ];
  return new Promise((resolve) => {
    const env = { ...process.env, KUBECONFIG: '/nowhere' };
    execFile(process.execPath, args, { env }, (error, stdout, stderr) =>
      resolve({ code: error ? Number(error.code) : 0, stdout, stderr }),
    );
  });
}

const DOMAINS = /^(automation|script|scene|group|input_\w+|timer|sensor)\./;

interface State {
  readonly entity_id: string;
  readonly attributes: Readonly<Record<string, unknown>>;
}

/**
 * Returns the entities of the configuration by id, with everything that does not change while a hub runs, and
 * the themes.
 */
async function effectOf(client: HubClient) {
  const states = await client.rest.get('/api/states', { answer: unchecked<readonly State[]>() });
  const entities = states
    .filter(({ entity_id: id }) => DOMAINS.test(id) && !/hub_operator|backup|sun_/.test(id))
    .map(({ entity_id: id, attributes: { friendly_name: name, icon, max, entity_id: members } }) => [
      id,
      { name, icon, max, members },
    ]);
  return { entities: Object.fromEntries(entities) as object, themes: [...(await themeNames(client))].sort() };
}

/**
 * Returns the helpers of a hub by entity id, with their states and attributes. A helper of the YAML without a name has
 * no friendly name, and the UI shows its id instead.
 */
async function helpersOf(client: HubClient) {
  const states = await client.rest.get('/api/states', {
    answer: unchecked<readonly (State & { readonly state: string })[]>(),
  });
  const helpers = states
    .filter(({ entity_id: id }) => /^(input_\w+|counter|timer|schedule)\./.test(id))
    .map(({ entity_id: id, state, attributes }) => {
      const { editable: _, next_event: __, friendly_name: name, ...rest } = attributes;
      const shown = name ?? id.split('.')[1]!.replaceAll('_', ' ');
      return [id, { ...rest, name: shown, ...(id !== 'schedule.heating' && { state }) }] as const;
    });
  return Object.fromEntries(helpers.sort(([a], [b]) => (a < b ? -1 : 1)));
}

describe('kubectl hub convert', () => {
  test.each([
    ['a home in a few files', SMALL_HOME, 6, []],
    ['a home of 20 packages in 130 files and 1.2 MB', homeInFolders(20, 11_000), 100, ['--server-side']],
  ])('%s has the same effect in the cluster as in a bare hub', async (_, files, least, options) => {
    const bare = await HubToExport.start(files);
    const home = new Home(await freshNamespace('convert'));
    try {
      await writeHome(join(folder, home.namespace), files);
      const { code, stdout } = await convert(home.namespace, `${home.namespace}-git`);
      expect([code, stdout]).toEqual([0, expect.stringContaining('create the Secret villa-passwords')]);
      const operator = await startTestOperator(home.namespace);
      await restoreOnboarded(home, 'villa');
      await home.apply(hub('villa'), secret('villa-passwords', { guests: 'Guests', lamp: 'Lamp' }));
      const { namespace } = home;
      await mustKubectl(['apply', ...options, `--kustomize=${join(folder, `${namespace}-git`)}`], {
        namespace,
      });
      await home.ready('hubconfiguration', 'villa', { reason: 'ConfigurationLoaded' });
      for (const name of ['kuche-an', 'second']) await home.ready('hubautomation', name);
      await home.ready('hubscript', 'good-night');
      await home.ready('hubscene', 'film');
      const client = new HubClient({
        clock: systemClock,
        url: bare.process.url,
        token: bare.token,
        log: silentLog,
      });
      const expected = await effectOf(client);
      client.close();
      expect(Object.keys(expected.entities).length).toBeGreaterThan(least);
      expect(await effectOf(await home.client('villa'))).toEqual(expected);
      expect(await operator.failures()).toEqual([]);
    } finally {
      await bare.dispose();
    }
  });

  test('helpers of the YAML become resources, with the same entities and values, also in a hub that has them in its YAML', async () => {
    const bare = await HubToExport.start(HOME_OF_HELPERS);
    const home = new Home(await freshNamespace('convert-helpers'));
    const { namespace } = home;
    try {
      await writeHome(join(folder, namespace), HOME_OF_HELPERS);
      expect((await convert(namespace, `${namespace}-yaml`)).code).toBe(0);
      const { code, stdout } = await convert(namespace, `${namespace}-git`, '--helpers');
      expect([code, stdout]).toEqual([0, expect.stringMatching(/^HubHelper +12$/m)]);
      expect(stdout).toContain('stays: configuration.yaml, line 11, input_boolean.stays: it uses !secret');
      expect(stdout).toContain('stays: packages/hall.yaml, line 3, input_number.reset: initial');
      const operator = await startTestOperator(namespace);
      await restoreOnboarded(home, 'villa');
      await home.apply(hub('villa'), secret('villa-passwords', { lamp: 'Lamp' }));
      await mustKubectl(['apply', `--kustomize=${join(folder, `${namespace}-yaml`)}`], { namespace });
      await home.ready('hubconfiguration', 'villa', { reason: 'ConfigurationLoaded' });
      const inCluster = await home.client('villa');
      const inBare = new HubClient({
        clock: systemClock,
        url: bare.process.url,
        token: bare.token,
        log: silentLog,
      });
      for (const { rest } of [inBare, inCluster]) {
        await rest.post('/api/services/input_boolean/turn_on', { entity_id: 'input_boolean.film' });
        await rest.post('/api/services/counter/increment', { entity_id: 'counter.plain' });
        await rest.post('/api/services/input_number/set_value', {
          ...{ entity_id: 'input_number.level', value: 12.5 },
        });
      }
      const before = await helpersOf(inBare);
      inBare.close();
      expect(Object.keys(before)).toEqual(
        [...Object.keys(CONVERTED_HELPERS), 'input_boolean.stays', 'input_number.reset'].sort(),
      );
      expect(await helpersOf(inCluster)).toEqual(before);
      await mustKubectl(['apply', `--kustomize=${join(folder, `${namespace}-git`)}`], { namespace });
      for (const [entity, name] of Object.entries(CONVERTED_HELPERS)) {
        await home.ready('hubhelper', name);
        expect((await home.get('hubhelper', name)).status).toMatchObject({ entityId: entity });
      }
      await home.ready('hubconfiguration', 'villa', { reason: 'ConfigurationLoaded' });
      expect(await helpersOf(await home.client('villa'))).toEqual(before);
      expect(await operator.failures()).toEqual([]);
    } finally {
      await bare.dispose();
    }
  });

  test('a user’s changes in the files stay, and a broken file is named', async () => {
    await writeHome(join(folder, 'mine'), SMALL_HOME);
    expect((await convert('mine', 'mine-git', '-n', 'home')).code).toBe(0);
    const again = await convert('mine', 'mine-git', '-n', 'home');
    expect(again.code).toBe(0);
    const file = join(folder, 'mine-git', 'config', 'customize.yaml');
    await writeFile(file, '# mine\n');
    const kept = await convert('mine', 'mine-git', '-n', 'home');
    expect([kept.code, kept.stdout]).toEqual([
      3,
      expect.stringContaining('not written: config/customize.yaml: '),
    ]);
    expect(await readFile(file, 'utf8')).toBe('# mine\n');
    expect((await convert('mine', 'mine-git', '-n', 'home', '--force')).code).toBe(0);
    const unnamed = await convert('mine', 'other-git', '--hub', 'My Home');
    expect([unnamed.code, unnamed.stderr]).toEqual([
      2,
      expect.stringContaining('--hub My Home is no name of a Hub'),
    ]);
    await writeHome(join(folder, 'mine'), { 'groups.yaml': 'all:\n\tname: A\n' });
    const broken = await convert('mine', 'broken-git');
    expect([broken.code, broken.stdout]).toEqual([
      3,
      expect.stringContaining('error: groups.yaml, line 2, column 1: '),
    ]);
  });

  test('a configuration.yaml that is too long is reported with a remedy that works', async () => {
    const sections = Array.from(
      { length: 9_000 },
      (_, index) => `  room_${index}: {name: "${'n'.repeat(40)}"}\n`,
    );
    const booleans = `input_boolean:\n${sections.join('')}`;
    await writeHome(join(folder, 'long'), { 'configuration.yaml': `logger:\n${booleans}` });
    const long = await convert('long', 'long-git');
    expect(long.code).toBe(3);
    expect(long.stdout + long.stderr).toMatch(
      /configuration\.yaml: must not have more than 524288 characters\. Move sections into files of a folder, such as packages\/lights\.yaml, include it with “packages: !include_dir_named packages” below “homeassistant:”, and convert again\./,
    );
    await writeHome(join(folder, 'split'), {
      'configuration.yaml': 'logger:\nhomeassistant:\n  packages: !include_dir_named packages\n',
      'packages/lights.yaml': booleans,
    });
    expect((await convert('split', 'split-git')).code).toBe(0);
  });

  test('with hashes in the names of ConfigMaps, Kustomize writes them into the HubConfiguration', async () => {
    await writeHome(join(folder, 'hashes'), SMALL_HOME);
    expect((await convert('hashes', 'hashes-git')).code).toBe(0);
    const file = join(folder, 'hashes-git', 'kustomization.yaml');
    await writeFile(file, (await readFile(file, 'utf8')).replace(/generatorOptions:\n.*\n/, ''));
    const built = await mustKubectl(['kustomize', join(folder, 'hashes-git')]);
    const names = [...built.matchAll(/^ +name: (villa-(?:files|themes)-\w{10})$/gm)].map(([, name]) => name!);
    expect([...new Set(names)]).toHaveLength(2);
    expect(names).toHaveLength(4);
  });

  test('a home of 120 files and 1.2 MB takes less than four times the processor time of a small one', async () => {
    await writeHome(join(folder, 'small'), homeInFolders(5, 100));
    await writeHome(join(folder, 'large'), homeInFolders(20, 11_000));
    const time = async (home: string) => {
      const before = await cpuSecondsOfEnded();
      const { code, stdout, stderr } = await convert(home, `${home}-git`, '-o', 'json');
      const seconds = (await cpuSecondsOfEnded()) - before;
      expect([code, stderr]).toEqual([0, '']);
      const { written } = JSON.parse(stdout) as { written: readonly string[] };
      return { seconds, written: written.length };
    };
    const [small, large] = [await time('small'), await time('large')];
    expect(large.written).toBeGreaterThan(100);
    expect(large.seconds / small.seconds).toBeLessThan(4);
  });
});

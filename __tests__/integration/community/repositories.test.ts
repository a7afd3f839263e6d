import { existsSync } from 'node:fs';
import { mkdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import {
  customIntegration,
  dashboardResources,
  templateError,
  themeNames,
} from '../../../operator/client/setup/community-content';
import { CodeHost } from '../../../sandbox/code-host';
import { freshNamespace, until } from '../../cluster';
import { configuration, DEFAULT_CONFIGURATION, Home, hub, type Manifest, secret } from '../../cluster/home';
import { restoreOnboarded, startHub } from '../../cluster/onboarded-volume';
import { startTestOperator, type TestOperator } from '../../cluster/operator';
import { LINK, repositoryZip, zip } from '../../../sandbox/zip';

// Repositories of every category in one real hub, from a code host on this machine. Each test uses its own
// repositories.

const KIND = 'hubcommunityrepository';
let home: Home;
let host: CodeHost;
let operator: TestOperator;
let volume: string;

beforeAll(async () => {
  host = await CodeHost.start();
  home = new Home(await freshNamespace('community'));
  operator = await startTestOperator(home.namespace, { settings: { CODE_HOST_URL: host.url } });
  await restoreOnboarded(home, 'villa');
  const text = `${DEFAULT_CONFIGURATION}frontend:\n  themes: !include_dir_merge_named themes\n`;
  // Applied before their hub exists, since the order must not matter.
  serveTheme('early', 'v1', 'Early');
  await home.apply(repository('early', 'theme'));
  await home.ready(KIND, 'early', { status: 'False', reason: 'HubNotFound' });
  await home.apply(hub('villa'), configuration('villa', text));
  await home.ready('hub', 'villa');
  volume = await home.volumeOf('villa');
});
afterAll(() => host.stop());

const repository = (name: string, category: string, spec: object = {}): Manifest => ({
  apiVersion: 'hub-operator.dev/v1',
  kind: 'HubCommunityRepository',
  metadata: { name },
  spec: { hubRef: { name: 'villa' }, category, repository: `someone/${name}`, ref: 'v1', ...spec },
});

const serve = (name: string, ref: string, files: Readonly<Record<string, string>>) =>
  host.serve(`someone/${name}`, ref, repositoryZip(files, `${name}-${ref}`));

function serveTheme(name: string, ref: string, theme: string): void {
  serve(name, ref, { 'README.md': '', [`themes/${name}.yaml`]: `${theme}:\n  primary-color: "#123456"\n` });
}

function serveIntegration(name: string, ref: string, domain: string, manifest: object = {}): void {
  const folder = `custom_components/${domain}`;
  const fields = { domain, name: domain, version: `1.0.${ref.slice(1)}`, config_flow: false, ...manifest };
  serve(name, ref, {
    [`${folder}/manifest.json`]: JSON.stringify(fields),
    [`${folder}/__init__.py`]: 'async def async_setup(hass, config):\n    return True\n',
    [`${folder}/only_${ref}.py`]: '',
  });
}

const installed = (name: string) => home.ready(KIND, name, { reason: 'RepositoryInstalled' });
const refused = async (name: string, reason: string) =>
  (await home.ready(KIND, name, { status: 'False', reason })).message;
const statusOf = async (name: string) => (await home.get(KIND, name)).status!;
const podUid = async () => (await home.get('pod', 'villa-0')).metadata.uid;
const rollouts = async () => (await home.get('statefulset', 'villa')).metadata.generation;
const onVolume = (path: string) => readFile(join(volume, path), 'utf8');
const isOnVolume = (path: string) => existsSync(join(volume, path));

/** Waits until no pod and no Secret of an installation exists: these are temporary. */
async function tidy(): Promise<void> {
  await until('no pod and no Secret of an installation is left', async () => {
    const names = (await home.list('pods,secrets')).map(({ metadata }) => metadata.name);
    return names.every((name) => !name.includes('-community-'));
  });
}

describe('HubCommunityRepository', () => {
  test('themes, templates and plugins are installed, updated and removed without a restart', async () => {
    const pod = await podUid();
    await installed('early');
    serveTheme('night', 'v1', 'Night');
    serve('tools', 'v1', { 'tools.jinja': '{% macro hello() %}one{% endmacro %}' });
    serve('lovelace-card', 'v1', { 'dist/card.js': 'one', 'src/card.ts': '' });
    await home.apply(
      repository('night', 'theme'),
      repository('tools', 'template'),
      repository('lovelace-card', 'plugin'),
    );
    for (const name of ['night', 'tools', 'lovelace-card']) await installed(name);
    const client = await home.client('villa');
    expect([...(await themeNames(client))]).toEqual(expect.arrayContaining(['Early', 'Night']));
    expect(await templateError(client, 'tools.jinja')).toBeUndefined();
    const path = '/local/community/lovelace-card/card.js';
    const urls = async () =>
      (await dashboardResources(client)).map(({ url }) => url).filter((url) => url.startsWith(path));
    const [first, ...others] = await urls();
    expect(others).toEqual([]);
    const { url } = (await home.get('hub', 'villa')).status!;
    expect(await (await fetch(`${String(url)}${first}`)).text()).toBe('one');
    expect(await statusOf('night')).toMatchObject({
      phase: 'Installed',
      installedVersion: 'v1',
      target: 'themes/night',
      provides: ['Night'],
      digest: expect.stringMatching(/^sha256:[0-9a-f]{64}$/) as unknown,
    });
    await tidy();

    serveTheme('night', 'v2', 'Midnight');
    serve('lovelace-card', 'v2', { 'dist/card.js': 'two' });
    for (const name of ['night', 'lovelace-card']) await home.change(KIND, name, { ref: 'v2' });
    for (const name of ['night', 'lovelace-card']) await installed(name);
    expect([...(await themeNames(client))]).toContain('Midnight');
    expect([...(await themeNames(client))]).not.toContain('Night');
    const [second, ...more] = await urls();
    expect(more).toEqual([]);
    expect(second).not.toBe(first);
    expect(await (await fetch(`${String(url)}${second}`)).text()).toBe('two');

    await writeFile(join(volume, 'themes/night/mine.yaml'), 'Mine:\n  primary-color: red\n');
    for (const name of ['night', 'tools', 'lovelace-card']) await home.delete(KIND, name);
    expect(isOnVolume('www/community/lovelace-card')).toBe(false);
    expect(isOnVolume('custom_templates/tools.jinja')).toBe(false);
    expect(isOnVolume('themes/night/night.yaml')).toBe(false);
    expect(isOnVolume('themes/night/mine.yaml')).toBe(true);
    expect(await urls()).toEqual([]);
    expect([...(await themeNames(client))]).not.toContain('Midnight');
    expect(await templateError(client, 'tools.jinja')).toContain('tools.jinja');
    expect(await podUid()).toBe(pod);
    await tidy();
  });

  test('integrations are loaded by one restart, updated by another, and removed by a third', async () => {
    serveIntegration('shelf-repo', 'v1', 'shelf');
    serveIntegration('table-repo', 'v1', 'table');
    let [generation, pod] = [await rollouts(), await podUid()];
    // The Hub is suspended until both are installed: on a busy machine the second one may come later than the
    // debounce of the first.
    await home.change('hub', 'villa', { suspend: true });
    await until('it is suspended', () => home.condition('hub', 'villa', 'Suspended'));
    await home.apply(repository('shelf-repo', 'integration'), repository('table-repo', 'integration'));
    for (const name of ['shelf-repo', 'table-repo']) await refused(name, 'RestartPending');
    await home.change('hub', 'villa', { suspend: false });
    for (const name of ['shelf-repo', 'table-repo']) await installed(name);
    expect(await rollouts()).toBe(generation + 1);
    expect(await podUid()).not.toBe(pod);
    expect(await customIntegration(await home.client('villa'), 'shelf')).toMatchObject({ version: '1.0.1' });

    [generation, pod] = [await rollouts(), await podUid()];
    serveIntegration('shelf-repo', 'v2', 'shelf');
    await home.change(KIND, 'shelf-repo', { ref: 'v2' });
    await installed('shelf-repo');
    expect(await rollouts()).toBe(generation + 1);
    expect(await customIntegration(await home.client('villa'), 'shelf')).toMatchObject({ version: '1.0.2' });
    expect(isOnVolume('custom_components/shelf/only_v1.py')).toBe(false);
    expect(isOnVolume('custom_components/shelf/only_v2.py')).toBe(true);

    generation = await rollouts();
    await home.delete(KIND, 'shelf-repo');
    expect(isOnVolume('custom_components/shelf')).toBe(false);
    await until('the hub is restarted', async () => (await rollouts()) === generation + 1);
    await home.ready('hub', 'villa');
    await until('the hub has forgotten it', async () => {
      const client = await home.client('villa');
      return (await customIntegration(client, 'shelf')) === undefined;
    });
    await installed('table-repo');
    expect(await rollouts()).toBe(generation + 1);
  });

  test('a resource that is renamed in Git keeps the files, and the hub runs on', async () => {
    const named = (name: string) => repository(name, 'integration', { repository: 'someone/desk' });
    serveIntegration('desk', 'v1', 'desk');
    await home.apply(named('desk-1'));
    await installed('desk-1');
    const before = { generation: await rollouts(), pod: await podUid(), downloads: host.requests.length };
    const file = () => stat(join(volume, 'custom_components/desk/manifest.json'));
    const { ino } = await file();
    // Creation times have whole seconds, and of two resources of one second the uid decides which is the older one.
    const secondAfter = async (name: string) => {
      const { creationTimestamp } = (await home.get(KIND, name)).metadata;
      const end = Date.parse(creationTimestamp) + 1_000;
      await until('the second of its creation is over', () => Date.now() >= end);
    };

    await secondAfter('desk-1');
    await home.apply(named('desk-2'));
    expect(await refused('desk-2', 'DuplicateId')).toContain('desk-1');
    await home.delete(KIND, 'desk-1');
    await installed('desk-2');
    await secondAfter('desk-2');
    // Some tools delete the old resource before they apply the new one.
    await home.delete(KIND, 'desk-2', { wait: false });
    await home.apply(named('desk-3'));
    await installed('desk-3');
    await home.event(
      'HubCommunityRepository',
      'desk-3',
      /^Normal TakenOver: The object of HubCommunityRepository desk-2/,
    );

    expect((await file()).ino).toBe(ino);
    expect({ generation: await rollouts(), pod: await podUid(), downloads: host.requests.length }).toEqual(
      before,
    );
    await tidy();
  });

  test('a refused version is not installed, and the earlier version stays', async () => {
    serveTheme('kept', 'v1', 'Kept');
    await home.apply(repository('kept', 'theme'));
    await installed('kept');
    const { digest } = await statusOf('kept');
    const before = await onVolume('themes/kept/kept.yaml');
    const attempts = host.requests.length;

    const hostile = [
      { name: 'kept-v2/' },
      { name: 'kept-v2/themes/x.yaml', content: '/etc/passwd', mode: LINK },
    ];
    host.serve('someone/kept', 'v2', zip(hostile));
    await home.change(KIND, 'kept', { ref: 'v2' });
    expect(await refused('kept', 'InvalidRepository')).toContain('links are not installed');
    host.serve('someone/kept', 'v3', zip([{ name: 'kept-v3/../../evil.yaml', content: 'x' }]));
    await home.change(KIND, 'kept', { ref: 'v3' });
    expect(await refused('kept', 'InvalidRepository')).toContain('invalid relative path');
    await home.change(KIND, 'kept', { ref: 'v4' });
    expect(await refused('kept', 'DownloadFailed')).toContain('HTTP 404');
    serveTheme('kept', 'v5', 'Other');
    await home.change(KIND, 'kept', { ref: 'v5', digest });
    expect(await refused('kept', 'DigestMismatch')).toContain(String(digest));
    expect(await statusOf('kept')).toMatchObject({ installedVersion: 'v1', digest, phase: 'Failed' });
    expect(await onVolume('themes/kept/kept.yaml')).toBe(before);
    // Each version was downloaded once.
    expect(host.requests.slice(attempts).map(({ path }) => path)).toEqual(
      ['v2', 'v3', 'v4', 'v5'].map((ref) => `/someone/kept/archive/${ref}.zip`),
    );
    await home.change(KIND, 'kept', { ref: 'v1' });
    await installed('kept');
  });

  test('of two repositories with one target the first is installed, and the other takes over later', async () => {
    serveTheme('same', 'v1', 'First');
    host.serve(
      'else/same',
      'v1',
      repositoryZip({ 'themes/same.yaml': 'Second:\n  primary-color: red\n' }, 'same-v1'),
    );
    await home.apply(repository('first', 'theme', { repository: 'someone/same' }));
    await installed('first');
    await home.apply(repository('second', 'theme', { repository: 'else/same' }));
    expect(await refused('second', 'DuplicateId')).toContain(
      'HubCommunityRepository first owns /config/themes/same',
    );
    await home.delete(KIND, 'first');
    await installed('second');
    expect(await onVolume('themes/same/same.yaml')).toContain('Second');
  });

  test('a user’s files are left alone', async () => {
    serve('wake', 'v1', { 'python_scripts/wake.py': 'theirs' });
    await mkdir(join(volume, 'python_scripts'));
    await writeFile(join(volume, 'python_scripts/wake.py'), 'mine');
    await home.apply(repository('wake', 'python_script'));
    expect(await refused('wake', 'NameConflict')).toContain('/config/python_scripts/wake.py exists');
    expect(await onVolume('python_scripts/wake.py')).toBe('mine');
    await rm(join(volume, 'python_scripts/wake.py'));
    await home.annotate(KIND, 'wake', 'hub-operator.dev/reconcile-requested-at=now');
    expect(await refused('wake', 'NotLoaded')).toContain('needs the section "python_script:"');
    expect(await onVolume('python_scripts/wake.py')).toBe('theirs');
  });

  test('the token of a private repository comes from a Secret and appears nowhere', async () => {
    const archive = repositoryZip(
      { 'themes/private.yaml': 'Private:\n  primary-color: red\n' },
      'private-v1',
    );
    host.serve('someone/private', 'v1', (request, response) => {
      if (request.headers.authorization === 'Bearer hunter2hunter2') response.writeHead(200).end(archive);
      else response.writeHead(404).end();
    });
    await home.apply(repository('private', 'theme', { tokenSecretRef: { name: 'code-host' } }));
    await refused('private', 'SecretNotFound');
    await home.apply(secret('code-host', { token: 'wrong' }));
    expect(await refused('private', 'DownloadFailed')).toContain('tokenSecretRef');
    await home.apply(secret('code-host', { token: 'hunter2hunter2' }));
    await installed('private');
    expect(JSON.stringify(await home.get(KIND, 'private'))).not.toContain('hunter2');
    expect(await operator.log()).not.toContain('hunter2');
  });

  test('a pod that a quota refuses leaves nothing behind, and is retried', async () => {
    await tidy();
    await home.apply({
      apiVersion: 'v1',
      kind: 'ResourceQuota',
      metadata: { name: 'one-pod' },
      spec: { hard: { pods: '1' } },
    });
    await until(
      'the quota counts',
      async () => (await home.get('resourcequota', 'one-pod')).status?.['used'],
    );
    serveTheme('crowded', 'v1', 'Crowded');
    await home.apply(repository('crowded', 'theme'));
    const message = await refused('crowded', 'InstallFailed');
    expect(message).toContain('exceeded quota: one-pod');
    expect(await statusOf('crowded')).toMatchObject({ phase: 'Failed' });
    await tidy();
    await home.delete('resourcequota', 'one-pod');
    // The API server applies the removal of a quota a moment later.
    let request = 0;
    await until('it is installed', async () => {
      await home.annotate(KIND, 'crowded', `hub-operator.dev/reconcile-requested-at=${++request}`);
      return (await home.condition(KIND, 'crowded'))?.reason === 'RepositoryInstalled';
    });
    await tidy();
  });

  test('files that were lost are restored on request, also after a crash of the operator', async () => {
    let request = 0;
    await until('a pod installs it', async () => {
      const isBack = isOnVolume('themes/early/early.yaml');
      if ((await home.list('pods')).some(({ metadata }) => metadata.name.includes('-community-')))
        return true;
      // Repeated when this process was too late to see the pod.
      if (isBack) {
        await rm(join(volume, 'themes/early'), { recursive: true });
        await home.annotate(KIND, 'early', `hub-operator.dev/reconcile-requested-at=${++request}`);
      }
      return false;
    });
    await operator.kill();
    await operator.start();
    await home.annotate(KIND, 'early', `hub-operator.dev/reconcile-requested-at=${++request}`);
    await until('the files are back', () => isOnVolume('themes/early/early.yaml'));
    await installed('early');
    await tidy();
  });

  test('an integration whose files were lost is loaded by a restart, and one whose files exist needs none', async () => {
    serveIntegration('lamp-repo', 'v1', 'lamp');
    await home.apply(repository('lamp-repo', 'integration'));
    await installed('lamp-repo');
    let [generation, handled] = [await rollouts(), 0];
    const putBack = async () => {
      const value = String(++handled);
      await home.annotate(KIND, 'lamp-repo', `hub-operator.dev/reconcile-requested-at=${value}`);
      await until('it is handled', async () => {
        const { lastHandledReconcileAt, phase } = await statusOf('lamp-repo');
        return lastHandledReconcileAt === value && phase === 'Installed';
      });
      await installed('lamp-repo');
      await tidy();
    };
    await putBack();
    expect(await rollouts()).toBe(generation);

    await rm(join(volume, 'custom_components/lamp'), { recursive: true });
    const pod = await podUid();
    await putBack();
    expect(isOnVolume('custom_components/lamp/manifest.json')).toBe(true);
    expect(await rollouts()).toBe(generation + 1);
    expect(await podUid()).not.toBe(pod);
    generation = await rollouts();
    await putBack();
    expect(await rollouts()).toBe(generation);
  });

  test('packages that the hub cannot install are named in its words', async () => {
    // Unlike other hubs of the sandbox, this one installs packages like the official image, but has no
    // network for it.
    const container = {
      name: 'hub',
      command: ['hass', '--config', '/config', '--skip-pip-packages', 'pyotp,PyQRCode,gTTS'],
      env: [{ name: 'UV_OFFLINE', value: '1' }],
    };
    await startHub(home, 'offline', { podTemplate: { spec: { containers: [container] } } });
    const hubRef = { name: 'offline' };
    serveIntegration('needy-repo', 'v1', 'needy', { requirements: ['no-such-package==1.2.3'] });
    // The files of this repository are attached to a release.
    const attached = JSON.stringify({ zip_release: true, filename: 'content.zip' });
    serve('content-repo', 'v1', { 'hacs.json': attached });
    const manifest = JSON.stringify({ domain: 'content', name: 'content', version: '1.0.1' });
    host.serveAt(
      '/someone/content-repo/releases/download/v1/content.zip',
      zip([
        { name: 'manifest.json', content: manifest },
        { name: '__init__.py', content: 'async def async_setup(hass, config):\n    return True\n' },
      ]),
    );
    await home.apply(
      repository('needy', 'integration', { hubRef, repository: 'someone/needy-repo' }),
      repository('content', 'integration', { hubRef, repository: 'someone/content-repo' }),
    );
    const message = await refused('needy', 'NotLoaded');
    expect(message).toContain('The hub cannot load the integration needy');
    expect(message).toContain('Unable to install package no-such-package==1.2.3: ');
    expect(message).toContain('The hub tries again when it is restarted.');
    await installed('content');
  });
});

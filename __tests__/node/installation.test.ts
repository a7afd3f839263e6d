import { mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { defaultSettings } from '../../manifests/settings';
import { getEntityState } from '../../operator/client/config-entities/states';
import { version } from '../../package.json';
import { helmProgram } from '../../sandbox/helm';
import { repository } from '../../sandbox/image/bundle';
import { tether } from '../../sandbox/tether';
import { clusterAccess, kubeconfig, mustKubectl, until } from '../cluster';
import { HELM_BUILD_TIMEOUT } from '../cluster/helm';
import { commandsUnder, documentedCommands, documentedYaml } from '../integration/docs/documented-commands';
import { Shell } from '../integration/docs/shell';
import { operatorPods } from '../node-cluster';
import { type FormerVersion, formerVersion } from '../node-cluster/former-version';
import { NodeHome } from '../node-cluster/home';

// Follows README and the how-to pages as a reader would, for each way to install. An older version of the
// operator is installed and upgraded to this one. All commands are those of the pages.

const README = 'README.md';
const INSTALL = 'docs/how-to/install.md';
const UPGRADE = 'docs/how-to/upgrade.md';
const UNINSTALL = 'docs/how-to/uninstall.md';
const MANY_HUBS = 'docs/how-to/many-hubs.md';

/** The values for the placeholder REGISTRY: that of the former version, and that of this one. */
const FORMER_REGISTRY = 'registry.example';
const PRESENT_REGISTRY = defaultSettings.image.split('/hub-operator:')[0]!;

/** The Hub in samples/. */
const HUB = 'my-home';
const AUTOMATION = 'dim-for-movie-night';

/** In milliseconds. The time includes the start of a hub by an operator that was just installed. */
const COURSE_TIMEOUT = 1_500_000;
const READY_TIMEOUT = 900_000;
/**
 * In milliseconds. The page says a minute; a busy machine needs longer, but no more than TIMEOUT below for
 * each of two deletions.
 */
const UNDEPLOY_LIMIT = 500_000;

let folder: string;
let former: FormerVersion;
let reader: Shell;
let home: NodeHome;

/** Returns the only command of a page that starts with these words. */
function documented(page: string, start: string): string {
  const found = documentedCommands().filter((each) => each.page === page && each.command.startsWith(start));
  if (found.length !== 1) throw new Error(`${page} has ${found.length} commands that start with ${start}`);
  return found[0]!.command;
}

/** Returns the documented commands that wait for the hub, and then for its automations. */
const waits = () =>
  documentedCommands()
    .filter(({ page, command }) => page === README && command.startsWith('kubectl wait'))
    .map(({ command }) => command);

/**
 * Runs a command in the folder of the former or of this version.
 * @throws Error the exit code is not 0
 */
async function follow(command: string, where: 'former' | 'present'): Promise<string> {
  const [directory, registry, tag] =
    where === 'former'
      ? [former.folder, FORMER_REGISTRY, former.version]
      : [repository, PRESENT_REGISTRY, version];
  const run = command
    .replaceAll('REGISTRY', registry)
    .replaceAll(/(hub-operator:)[\d.]+\b/g, `$1${tag}`)
    // The prerequisites of make were made before this test, and must not be installed again while it runs.
    .replace(/^make /, 'make --old-file=node_modules/.ready ');
  const { code, output } = await reader.run(`cd ${directory} && ${run}`);
  if (code !== 0) throw new Error(`${run} ended with ${code}: ${output}`);
  return output;
}

/** Applies the samples, and waits for the hub and its automations as README does. */
async function applySamples(where: 'former' | 'present'): Promise<void> {
  await follow(documented(README, 'kubectl apply -f samples/'), where);
  for (const wait of waits()) {
    // Repeats the wait, since a busy machine takes longer than the page allows.
    const succeeds = () => follow(wait, where).then(() => true);
    await until(wait, succeeds, READY_TIMEOUT);
  }
}

const rolledOut = () =>
  until('the operator is rolled out', async () => {
    await follow(documented(INSTALL, 'kubectl -n hub-operator rollout status'), 'present');
    return true;
  });

interface Form {
  readonly form: string;
  /** Installs the former version. */
  install(): Promise<unknown>;
  /** Upgrades to this version. */
  upgrade(): Promise<unknown>;
  uninstall(): Promise<unknown>;
}

const resources = () => documented(UNINSTALL, 'kubectl delete hubs,');

const forms: readonly Form[] = [
  {
    form: 'dist/install.yaml, make deploy and make undeploy',
    install: () =>
      follow(
        commandsUnder(INSTALL, 'For the whole cluster').find((command) => command.startsWith('sed '))!,
        'former',
      ),
    upgrade: () => follow(documented(UPGRADE, 'make deploy'), 'present'),
    async uninstall() {
      const began = Date.now();
      const output = await follow('make undeploy', 'present');
      const duration = Date.now() - began;
      expect(output).toMatch(/home\/my-home +the claim my-home-config \(5Gi\) is DELETED/);
      expect(output).toContain('Deleted the operator');
      expect(duration).toBeLessThan(UNDEPLOY_LIMIT);
    },
  },
  {
    form: 'kubectl apply -k dist',
    async install() {
      // The reader has a kustomization beside a clone of the repository.
      await symlink(former.folder, join(folder, 'hub-operator'));
      await mkdir(join(folder, 'fleet'));
      const text = documentedYaml(INSTALL, 'newName')
        .replace('REGISTRY', FORMER_REGISTRY)
        .replace(/newTag: .*/, `newTag: ${former.version}`);
      await writeFile(join(folder, 'fleet', 'kustomization.yaml'), text);
      const command = documented(INSTALL, 'kubectl apply --server-side -k');
      await follow(command.replace(/dist$/, join(folder, 'fleet')), 'former');
    },
    upgrade: () => follow(documented(INSTALL, 'kubectl apply --server-side -k'), 'present'),
    async uninstall() {
      await follow(resources(), 'present');
      await follow(documented(UNINSTALL, 'kubectl delete -f dist/install.yaml'), 'present');
    },
  },
  {
    form: 'the Helm chart',
    install: () => follow(documented(INSTALL, 'helm install'), 'former'),
    upgrade: () => follow(documented(UPGRADE, 'helm upgrade'), 'present'),
    uninstall: uninstallRelease,
  },
];

async function uninstallRelease(): Promise<void> {
  await follow(resources(), 'present');
  await follow(documented(UNINSTALL, 'helm uninstall'), 'present');
  await follow(documented(UNINSTALL, 'kubectl delete -f dist/crds.yaml'), 'present');
  await follow(documented(UNINSTALL, 'kubectl delete namespace'), 'present');
}

/** Returns the operator's own objects in the cluster as `kind/name`. */
async function ofOperator(): Promise<string[]> {
  const kinds = 'namespaces,clusterroles,clusterrolebindings,customresourcedefinitions';
  const printed = await mustKubectl(['get', `${kinds},validatingwebhookconfigurations`, '--output=name']);
  return printed.split('\n').filter((name) => name.includes('hub-operator'));
}

/**
 * Kubernetes deletes pod and claim of the hub, which are not checked here. Its garbage collector may not know
 * kinds that were deleted and installed again a minute ago, and learns nothing more after they are gone.
 */
const nothingIsLeft = () =>
  until('nothing of the operator is left', async () => {
    const remaining = await ofOperator();
    if (remaining.length === 0) return true;
    throw new Error(remaining.join(' '));
  });

/** Returns the alias of the automation in the hub. */
async function aliasInHub(): Promise<unknown> {
  const { status } = await home.get('hubautomation', AUTOMATION);
  const client = await home.client(HUB);
  return (await getEntityState(client.rest, String(status!['entityId'])))?.attributes['friendly_name'];
}

async function changeReachesHub(alias: string): Promise<void> {
  await home.change('hubautomation', AUTOMATION, { alias });
  await until(`the automation in the hub is called ${alias}`, async () => {
    const present = await aliasInHub();
    if (present === alias) return true;
    throw new Error(`it is called ${String(present)}`);
  });
}

const podTemplate = async () =>
  JSON.stringify((await home.get('statefulset', HUB)).spec['template'], undefined, 1);
const podUid = async () => (await home.get('pod', `${HUB}-0`)).metadata.uid;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'reader-'));
  await mkdir(join(folder, 'bin'));
  const [program, ...first] = clusterAccess().kubectl;
  await writeFile(join(folder, 'bin', 'kubectl'), `#!/bin/sh\nexec ${program} ${first.join(' ')} "$@"\n`, {
    mode: 0o755,
  });
  await tether();
  await symlink(await helmProgram(), join(folder, 'bin', 'helm'));
  reader = new Shell(folder, {
    KUBECONFIG: kubeconfig(),
    PATH: [join(folder, 'bin'), process.env['PATH']].join(delimiter),
    YES: '1',
    // A busy machine needs longer than the default of the commands.
    TIMEOUT: '240',
  });
  former = await formerVersion(`${FORMER_REGISTRY}/hub-operator`);
  // Removes everything that other test files have left.
  await follow('make undeploy FORCE=1', 'present');
}, HELM_BUILD_TIMEOUT);

afterAll(async () => {
  reader?.stop();
  await former?.remove();
  await rm(folder, { recursive: true, force: true });
});

describe('an installation, by README and docs alone', () => {
  test.each(forms)(
    'with $form: installed, a hub is Ready, an automation is changed, upgraded, uninstalled',
    async ({ install, upgrade, uninstall }) => {
      home = new NodeHome('home'); // the namespace of samples/
      await until('the cluster is empty', async () => (await ofOperator()).length === 0);
      await install();
      await rolledOut();

      // The samples of this version may have kinds that the former one lacks.
      await applySamples('former');
      await changeReachesHub('Dim the hall');

      const before = { podTemplate: await podTemplate(), podUid: await podUid() };
      await upgrade();
      await rolledOut();
      await until('only this version runs', async () => {
        const pods = await operatorPods();
        const images = pods.map(({ spec }) => spec.containers[0]!.image);
        return images.length === 1 && images[0] === defaultSettings.image;
      });
      await applySamples('present');
      await changeReachesHub('Dim the cellar');
      // The pod is read first, because only an earlier change of the template replaces it.
      const uid = await podUid();
      if ((await podTemplate()) === before.podTemplate) expect(uid).toBe(before.podUid);

      await uninstall();
      await nothingIsLeft();
      // The pod may use its whole grace period of 240 s.
      await mustKubectl(['delete', 'namespace', home.namespace, '--timeout=480s']);
    },
    COURSE_TIMEOUT,
  );

  test(
    'with the Helm chart for two namespaces: a home in each is Ready, and the operator has rights in these alone',
    async () => {
      await until('the cluster is empty', async () => (await ofOperator()).length === 0);
      const homes = ['home-amsterdam', 'home-lisbon'].map((name) => new NodeHome(name));
      const answers: string[] = [];
      for (const command of commandsUnder(MANY_HUBS, 'Two homes, one operator, with Helm')) {
        // `kubectl auth can-i` answers "no" with an exit code, which is not a failure here.
        const typed = command.includes('auth can-i') ? `${command} || true` : command;
        const isRepeated = /^kubectl .*\b(wait|rollout)\b|^kubectl apply -k/.test(command);
        const succeeds = async () => (answers.push(await follow(typed, 'present')), true);
        if (isRepeated) await until(command, succeeds, READY_TIMEOUT);
        else await succeeds();
      }
      expect(answers.slice(-2).map((answer) => answer.split('\n').at(-2))).toEqual(['yes', 'no']);
      for (home of homes) {
        const { status } = await home.get('hubautomation', 'welcome');
        const client = await home.client('home');
        const state = await getEntityState(client.rest, String(status!['entityId']));
        expect(state?.attributes['friendly_name']).toBe('Welcome');
      }
      await uninstallRelease();
      await nothingIsLeft();
      for (const { namespace } of homes)
        await mustKubectl(['delete', 'namespace', namespace, '--timeout=480s']);
    },
    COURSE_TIMEOUT,
  );
});

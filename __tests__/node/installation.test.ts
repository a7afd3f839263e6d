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

// A reader of README and of the how-to pages, for each way to install: with a former version of the operator, which is
// upgraded to this one. All commands are those of the pages.

const README = 'README.md';
const INSTALL = 'docs/how-to/install.md';
const UPGRADE = 'docs/how-to/upgrade.md';
const UNINSTALL = 'docs/how-to/uninstall.md';
const MANY_HUBS = 'docs/how-to/many-hubs.md';

/** What stands for REGISTRY: of the former version, and of this one. */
const FORMER_REGISTRY = 'registry.example';
const PRESENT_REGISTRY = defaultSettings.image.split('/hub-operator:')[0]!;

/** The hub of samples/. */
const HUB = 'my-home';
const AUTOMATION = 'dim-for-movie-night';

/** Milliseconds. A hub is started, by an operator that was just installed. */
const COURSE_TIMEOUT = 1_500_000;
const READY_TIMEOUT = 900_000;
/** The page says a minute. A busy machine needs longer, but not more than TIMEOUT below, for each of two deletions. */
const UNDEPLOY_LIMIT = 500_000;

let folder: string;
let former: FormerVersion;
let reader: Shell;
let home: NodeHome;

/** The only command of a page that starts so. */
function documented(page: string, start: string): string {
  const found = documentedCommands().filter((each) => each.page === page && each.command.startsWith(start));
  if (found.length !== 1) throw new Error(`${page} has ${found.length} commands that start with ${start}`);
  return found[0]!.command;
}

/** For the hub, and then for its automations. */
const waits = () =>
  documentedCommands()
    .filter(({ page, command }) => page === README && command.startsWith('kubectl wait'))
    .map(({ command }) => command);

/** Runs it among the files of the former version or of this one. @throws Error its exit code is not 0 */
async function follow(command: string, where: 'former' | 'present'): Promise<string> {
  const [directory, registry, tag] =
    where === 'former'
      ? [former.folder, FORMER_REGISTRY, former.version]
      : [repository, PRESENT_REGISTRY, version];
  const run = command
    .replaceAll('REGISTRY', registry)
    .replaceAll(/(hub-operator:)[\d.]+\b/g, `$1${tag}`)
    // The prerequisites of make have started this test, and must not be installed again under it.
    .replace(/^make /, 'make --old-file=node_modules/.ready ');
  const { code, output } = await reader.run(`cd ${directory} && ${run}`);
  if (code !== 0) throw new Error(`${run} ended with ${code}: ${output}`);
  return output;
}

/** Applies the samples, and waits for the hub and its automations as README does. */
async function applySamples(where: 'former' | 'present'): Promise<void> {
  await follow(documented(README, 'kubectl apply -f samples/'), where);
  for (const wait of waits()) {
    // Again, where a busy machine takes longer than the page waits.
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
  /** The former version. */
  install(): Promise<unknown>;
  /** This version. */
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
      // As a kustomization of the reader's own, beside a clone of the repository.
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

/** `kind/name` of the operator's own objects in the cluster. */
async function ofOperator(): Promise<string[]> {
  const kinds = 'namespaces,clusterroles,clusterrolebindings,customresourcedefinitions';
  const printed = await mustKubectl(['get', `${kinds},validatingwebhookconfigurations`, '--output=name']);
  return printed.split('\n').filter((name) => name.includes('hub-operator'));
}

/**
 * Pod and claim of the hub are Kubernetes's to delete. Of kinds that were deleted and installed again a minute ago its
 * garbage collector may not know yet, and learns nothing more when they are gone: so they are not looked at.
 */
const nothingIsLeft = () =>
  until('nothing of the operator is left', async () => {
    const remaining = await ofOperator();
    if (remaining.length === 0) return true;
    throw new Error(remaining.join(' '));
  });

/** The hub's name of the automation. */
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
    // A busy machine needs longer than the commands wait by themselves.
    TIMEOUT: '240',
  });
  former = await formerVersion(`${FORMER_REGISTRY}/hub-operator`);
  // What other test files have left.
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
      // The pod first: only a template that was changed before replaces it.
      const uid = await podUid();
      if ((await podTemplate()) === before.podTemplate) expect(uid).toBe(before.podUid);

      await uninstall();
      await nothingIsLeft();
      // The pod may use its grace period of 240 s.
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
        // An answer of no is an exit code as well.
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

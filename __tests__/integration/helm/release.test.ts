import { cp, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { kinds } from '../../../operator/kinds';
import { GROUP_VERSION } from '../../../operator/kinds/group';
import { type Sandbox, startSandbox } from '../../../sandbox';
import { kubectl, mustKubectl, until } from '../../cluster';
import { filesOf } from '../../cluster/definitions';
import { CHART, helm, HELM_BUILD_TIMEOUT } from '../../cluster/helm';
import { issueCertificate } from '../../../operator/webhook/certificate/issue';
import { commandsUnder } from '../docs/documented-commands';

// The chart as a release in a cluster of its own: the shared one has the objects of dist/install.yaml. The operator does
// not run there.

const NAMESPACE = 'hub-operator';
const CHANGED = 'A description of the next version.';

let sandbox: Sandbox;
let hubUid: string;

const flag = () => `--kubeconfig=${sandbox.kubeconfig}`;
const release = (command: string, ...args: string[]) =>
  helm(command, 'hub-operator', ...args, '--namespace', NAMESPACE, flag());
const get = (...args: string[]) => mustKubectl([flag(), 'get', ...args]);
const exists = async (...args: string[]) => (await kubectl([flag(), 'get', ...args])).code === 0;
/** An error of the API server is no answer. */
const isThere = async (...args: string[]) =>
  (await get(...args, '--ignore-not-found', '--output=name')) !== '';
const inNamespace = ['--namespace', NAMESPACE];
const hub = ['hub', 'home', '--namespace=default', '--output=jsonpath={.metadata.uid}'];

beforeAll(async () => {
  [sandbox] = await Promise.all([startSandbox({ progress: 'silent' }), helm('version')]);
}, HELM_BUILD_TIMEOUT);

afterAll(() => sandbox.stop());

describe('a release of the chart', () => {
  test('helm install makes the operator and its kinds', async () => {
    const notes = await release('install', CHART, '--create-namespace');
    expect(notes).toContain('It works in all namespaces.');
    expect(
      await get('deployment', 'hub-operator', ...inNamespace, '--output=jsonpath={.spec.replicas}'),
    ).toBe('1');
    const input = JSON.stringify({
      apiVersion: GROUP_VERSION,
      kind: 'Hub',
      metadata: { name: 'home', namespace: 'default' },
      spec: {},
    });
    // The API server serves a kind a moment after its CRD exists.
    await until(
      'a Hub is accepted',
      async () => (await kubectl([flag(), 'apply', '-f', '-'], { input })).code === 0,
    );
    hubUid = await get(...hub);
  });

  test('helm upgrade changes the operator, and the CRDs as well', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'chart-'));
    try {
      await cp(CHART, folder, { recursive: true });
      const file = join(folder, 'files/crds.yaml');
      const text = await readFile(file, 'utf8');
      await writeFile(file, text.replace(/(?<=openAPIV3Schema:\n +description: ).*/, CHANGED));
      await release('upgrade', folder, '--set', 'replicas=2');
    } finally {
      await rm(folder, { recursive: true });
    }
    expect(
      await get('deployment', 'hub-operator', ...inNamespace, '--output=jsonpath={.spec.replicas}'),
    ).toBe('2');
    const description = '--output=jsonpath={.spec.versions[0].schema.openAPIV3Schema.description}';
    expect(await get('crd', `${kinds[0]!.plural}.hub-operator.dev`, description)).toBe(CHANGED);
    expect(await get(...hub)).toBe(hubUid);
  });

  test('who makes the certificate of the webhook is changed by the documented commands, and the CA stays', async () => {
    const registration = ['validatingwebhookconfiguration', 'hub-operator'];
    const ca = Buffer.from(issueCertificate('hub-operator-webhook.hub-operator.svc', Date.now()).ca).toString(
      'base64',
    );
    await mustKubectl([
      flag(), 'patch', ...registration, '--type=json',
      `--patch=[{"op":"add","path":"/webhooks/0/clientConfig/caBundle","value":"${ca}"}]`,
    ]); // prettier-ignore
    await mustKubectl([flag(), 'apply', '--server-side', ...(await filesOf('certManager'))]);
    for (const kind of ['certificates', 'issuers'])
      await until(`${kind} are served`, () => exists(`${kind}.cert-manager.io`));

    const upgrades = ['Change to cert-manager', 'Change back to the operator'].map((heading) =>
      commandsUnder('docs/how-to/webhook-certificate.md', heading).find((each) => each.startsWith('helm ')),
    );
    for (const [index, command] of upgrades.entries()) {
      const byCertManager = index === 0;
      const args = command!.replace('REGISTRY', 'registry.example').split(' ').slice(1);
      await helm(...args, flag());
      const { metadata, webhooks } = JSON.parse(await get(...registration, '--output=json')) as {
        metadata: { annotations: Readonly<Record<string, string>> };
        webhooks: [{ clientConfig: { caBundle: string } }];
      };
      expect('cert-manager.io/inject-ca-from' in metadata.annotations).toBe(byCertManager);
      expect(webhooks[0].clientConfig.caBundle).toBe(ca);
      for (const kind of ['certificates.cert-manager.io', 'issuers.cert-manager.io'])
        expect(await isThere(kind, 'hub-operator-webhook', ...inNamespace)).toBe(byCertManager);
      for (const kind of ['clusterrole', 'clusterrolebinding'])
        expect(await isThere(kind, 'hub-operator-webhook')).toBe(!byCertManager);
      const mode = '--output=jsonpath={.spec.template.spec.containers[0].env[?(@.name=="WEBHOOK")].value}';
      expect(await get('deployment', 'hub-operator', ...inNamespace, mode)).toBe(
        byCertManager ? 'provided' : 'self-signed',
      );
    }
  });

  test('helm uninstall removes the operator, and keeps the kinds and every Hub', async () => {
    await release('uninstall', '--wait');
    for (const [kind, name] of [
      ['deployment', 'hub-operator'],
      ['serviceaccount', 'hub-operator'],
      ['service', 'hub-operator-webhook'],
      ['networkpolicy', 'hub-operator'],
    ] as const)
      expect(await exists(kind, name, ...inNamespace)).toBe(false);
    for (const kind of ['clusterrole', 'clusterrolebinding', 'validatingwebhookconfiguration'])
      expect(await exists(kind, 'hub-operator')).toBe(false);
    for (const { plural } of kinds) expect(await exists('crd', `${plural}.hub-operator.dev`)).toBe(true);
    expect(await get(...hub)).toBe(hubUid);
  });

  test('a new release takes the kinds over that the former one left', async () => {
    await release('install', CHART);
    expect(await get(...hub)).toBe(hubUid);
    await release('uninstall', '--wait');
  });

  test('a release in another namespace takes them over only when it is told to', async () => {
    const other = (...args: string[]) =>
      helm('install', 'operator', CHART, '--namespace', 'elsewhere', '--create-namespace', flag(), ...args);
    await expect(other()).rejects.toThrow('invalid ownership metadata');
    await other('--take-ownership', '--set', 'watchNamespaces={default}');
    expect(await get('deployment', 'hub-operator', '--namespace=elsewhere', '--output=name')).toContain(
      'hub-operator',
    );
    expect(
      await get('rolebinding', 'hub-operator', '--namespace=default', '--output=jsonpath={.subjects}'),
    ).toBe(JSON.stringify([{ kind: 'ServiceAccount', name: 'hub-operator', namespace: 'elsewhere' }]));
    expect(await get(...hub)).toBe(hubUid);
  });
});

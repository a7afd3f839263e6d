import { execFile } from 'node:child_process';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { cp, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { kinds } from '../../../operator/kinds';
import { GROUP_VERSION } from '../../../operator/kinds/group';
import { type Sandbox, startSandbox } from '../../../sandbox';
import { kubectl, mustKubectl, until } from '../../cluster';
import { filesOf } from '../../cluster/definitions';
import { CHART, helm, HELM_BUILD_TIMEOUT } from '../../cluster/helm';
import { issueCertificate } from '../../../operator/webhook/certificate/issue';
import { commandsUnder, documentedYaml } from '../docs/documented-commands';

// The chart as a release in its own cluster, since the shared one has the objects of dist/install.yaml. The
// operator does not run there.

const NAMESPACE = 'hub-operator';
const CHANGED = 'A description of the next version.';

let sandbox: Sandbox;
let hubUid: string;

const flag = () => `--kubeconfig=${sandbox.kubeconfig}`;
const release = (command: string, ...args: string[]) =>
  helm(command, 'hub-operator', ...args, '--namespace', NAMESPACE, flag());
const get = (...args: string[]) => mustKubectl([flag(), 'get', ...args]);
const exists = async (...args: string[]) => (await kubectl([flag(), 'get', ...args])).code === 0;
/** An error of the API server must not count as absence. */
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

  test('a variable of the values is added, changed and removed', async () => {
    const variables = () =>
      get(
        'deployment', 'hub-operator', ...inNamespace,
        '--output=jsonpath={range .spec.template.spec.containers[0].env[*]}{.name}={.value} {end}',
      ); // prettier-ignore
    const upgraded = async (...env: readonly { readonly name: string; readonly value: string }[]) => {
      await release('upgrade', CHART, `--set-json=env=${JSON.stringify(env)}`);
      return (await variables()).split(' ');
    };
    const before = (await variables()).split(' ');
    const name = 'NODE_OPTIONS';
    for (const value of ['--enable-source-maps', '--trace-warnings'])
      expect(await upgraded({ name, value })).toEqual(expect.arrayContaining([`${name}=${value}`]));
    expect(await upgraded()).toEqual(before);
    await expect(upgraded({ name: 'WATCH_NAMESPACES', value: 'home' })).rejects.toThrow('/env/0/name');
    expect((await variables()).split(' ')).toEqual(before);
  });

  test('a proxy and a private CA are set as documented', async () => {
    const page = 'docs/how-to/proxy.md';
    const folder = await mkdtemp(join(tmpdir(), 'proxy-'));
    try {
      const [ca, values] = ['ca.crt', 'proxy.yaml'].map((name) => join(folder, name));
      await writeFile(ca!, issueCertificate('ca.example', Date.now()).ca);
      await writeFile(values!, documentedYaml(page, 'extraVolumes'));
      const [create, upgrade] = commandsUnder(page, 'With Helm');
      await mustKubectl([flag(), ...create!.replace('ca.crt', ca!).split(' ').slice(1)]);
      await helm(...upgrade!.replace('proxy.yaml', values!).split(' ').slice(1), flag());
    } finally {
      await rm(folder, { recursive: true });
    }
    const pod = JSON.parse(
      await get('deployment', 'hub-operator', ...inNamespace, '--output=jsonpath={.spec.template.spec}'),
    ) as { containers: [object] };
    expect(pod).toMatchObject({ volumes: [{ configMap: { name: 'authorities' } }] });
    expect(pod.containers[0]).toMatchObject({
      volumeMounts: [{ mountPath: '/authorities' }],
      env: expect.arrayContaining([
        { name: 'HTTPS_PROXY', value: 'http://proxy.example.org:3128' },
        { name: 'NODE_EXTRA_CA_CERTS', value: '/authorities/ca.crt' },
      ]) as unknown,
    });
  });

  test('helm test asks the Service of the operator whether a replica is ready', async () => {
    const served = createServer((request, response) => {
      response.statusCode = request.url === '/readyz?wait=8' ? status : 404;
      response.end('the answer');
    });
    let status = 200;
    await new Promise<void>((done) => served.listen(0, '127.0.0.1', done));
    const { port } = served.address() as AddressInfo;
    const pod = ['pod', 'hub-operator-test', ...inNamespace];
    // There is no kubelet, so the test itself runs the pod's program, and reports its end.
    const ended = (async () => {
      await until('the pod exists', () => isThere(...pod));
      const command = JSON.parse(
        await get(...pod, '--output=jsonpath={.spec.containers[0].command}'),
      ) as string[];
      const script = command.at(-1)!.replace('hub-operator-metrics:8080', `127.0.0.1:${port}`);
      const run = () => promisify(execFile)(process.execPath, ['--eval', script]);
      status = 503;
      await expect(run()).rejects.toThrow('Command failed');
      status = 200;
      expect((await run()).stdout).toBe('200 the answer\n');
      const phase = JSON.stringify({ status: { phase: 'Succeeded' } });
      await mustKubectl([
        flag(),
        'patch',
        ...pod,
        '--subresource=status',
        '--type=merge',
        `--patch=${phase}`,
      ]);
    })();
    expect(await release('test')).toMatch(/Phase: +Succeeded/);
    await ended;
    expect(await isThere(...pod)).toBe(false);
    served.close();
  });

  test('the issuer of the webhook’s certificate is changed by the documented commands, and the CA stays', async () => {
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

  test('a new release takes over the kinds that the former one left', async () => {
    await release('install', CHART);
    expect(await get(...hub)).toBe(hubUid);
    await release('uninstall', '--wait');
  });

  test('two releases work in separate namespaces, and one of them has the kinds', async () => {
    const household = (name: string, ...args: string[]) =>
      helm('install', name, CHART, '--namespace', name, '--create-namespace', flag(), ...args);
    await mustKubectl([flag(), 'create', 'namespace', 'garden']);
    await expect(household('first', '--set', 'watchNamespaces={default}')).rejects.toThrow(
      'invalid ownership metadata',
    );
    const first = ['--set', 'watchNamespaces={default}', '--take-ownership'];
    await household('first', ...first, '--set', 'webhook.certificate=cert-manager');
    const second = ['--set', 'watchNamespaces={garden}', '--set', 'crds.install=false'];
    await household('second', ...second, '--set', 'webhook.certificate=cert-manager');
    for (const [name, watched] of [
      ['first', 'default'],
      ['second', 'garden'],
    ] as const) {
      const object = `${name}-hub-operator`;
      const subjects = '--output=jsonpath={.subjects}';
      expect(await get('rolebinding', object, `--namespace=${watched}`, subjects)).toBe(
        JSON.stringify([{ kind: 'ServiceAccount', name: object, namespace: name }]),
      );
      const selected = '--output=jsonpath={.webhooks[0].namespaceSelector.matchExpressions[0].values}';
      expect(await get('validatingwebhookconfiguration', object, selected)).toBe(JSON.stringify([watched]));
      const bound = '--output=jsonpath={.spec.matchConditions[0].expression}';
      expect(await get('validatingadmissionpolicy', object, bound)).toContain(
        `^system:serviceaccount:${name}:${object}$`,
      );
    }
    for (const name of ['second', 'first'])
      await helm('uninstall', name, '--namespace', name, '--wait', flag());
    expect(await get(...hub)).toBe(hubUid);
  });
});

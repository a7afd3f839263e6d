import { once } from 'node:events';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { connect } from 'node:tls';
import { App } from 'cdk8s';
import { Installation } from '../../../manifests/installation';
import { NAMESPACE, OPERATOR } from '../../../manifests/names';
import { readManifests } from '../../../manifests/read-manifests';
import { readSynthSettings } from '../../../manifests/settings';
import { WEBHOOK } from '../../../operator/kinds/object-names';
import { type OperatorProcess, startOperator } from '../../../sandbox/operator-process';
import { freePort } from '../../../sandbox/ports';
import { webhookSettings } from '../../../sandbox/webhook';
import { until } from '../../cluster';
import { filesOf } from '../../cluster/definitions';
import { automation } from '../../cluster/home';
import { StandInCertManager } from '../../cluster/stand-in-cert-manager';
import { commandsUnder, repository } from '../docs/documented-commands';
import { Shell } from '../docs/shell';
import { OwnCluster } from './own-cluster';

// Changes an installed operator to another variant with the commands of the how-to pages.

const CERTIFICATE = 'docs/how-to/webhook-certificate.md';
const INSTALL = 'docs/how-to/install.md';
const LIMIT = 'docs/how-to/limit-access.md';
const WITHOUT = 'Without a webhook';
const ADDRESS = '127.0.0.1';
const ACCOUNT = `system:serviceaccount:${NAMESPACE}:${OPERATOR}`;
const inNamespace = `--namespace=${NAMESPACE}`;
const registration = ['validatingwebhookconfiguration', WEBHOOK.configuration];

interface Registration {
  readonly metadata: { readonly annotations?: Readonly<Record<string, string>> };
  readonly webhooks: readonly [{ readonly clientConfig: { readonly caBundle?: string } }];
}

interface Manifest {
  readonly kind: string;
  readonly metadata: { readonly name: string; readonly namespace?: string };
}

let cluster: OwnCluster;
let certManager: StandInCertManager;
let folder: string;
let reader: Shell;
let port: number;
let operator: OperatorProcess | undefined;

beforeAll(async () => {
  [cluster, folder, port] = await Promise.all([
    OwnCluster.start(),
    mkdtemp(join(tmpdir(), 'variants-')),
    freePort(),
  ]);
  certManager = new StandInCertManager((...call) => cluster.must(...call), ADDRESS);
  await mkdir(join(folder, 'bin'));
  const { kubectl } = cluster.sandbox;
  // A link to the built kubectl where none is installed.
  if (kubectl.length > 1)
    await writeFile(join(folder, 'bin', 'kubectl'), `#!/bin/sh\nexec ${kubectl.join(' ')} "$@"\n`, {
      mode: 0o755,
    });
  reader = new Shell(repository, {
    KUBECONFIG: cluster.sandbox.kubeconfig,
    PATH: [join(folder, 'bin'), process.env['PATH']].join(delimiter),
  });
  for (const name of ['home', 'garden']) await cluster.must(['create', 'namespace', name]);
});

afterAll(async () => {
  reader?.stop();
  await end();
  await cluster.stop();
  await rm(folder, { recursive: true, force: true });
});

/**
 * Runs commands of a page. `make synth` writes to another folder, since other tests read `dist/`, and `make
 * deploy` applies that folder.
 */
async function follow(commands: readonly string[]): Promise<void> {
  expect(commands).not.toEqual([]);
  for (const command of commands) {
    const synth = /^(?:WEBHOOK_CERTIFICATE=(\S+) )?make synth$/.exec(command);
    if (synth) {
      await synthesize(synth[1]);
      continue;
    }
    const run = command
      .replace(/^make deploy .*/, `kubectl apply --server-side --filename=${join(folder, 'install.json')}`)
      .replaceAll('REGISTRY', 'registry.example');
    const { code, output } = await reader.run(run);
    if (code !== 0) throw new Error(`${run} ended with ${code}: ${output}`);
  }
}

/**
 * The webhook is registered by address, since the API server of a sandbox reaches a process, but no Service.
 */
async function synthesize(certificate: string | undefined): Promise<void> {
  const settings = readSynthSettings({ WEBHOOK_CERTIFICATE: certificate });
  const url = `https://${ADDRESS}:${port}${WEBHOOK.path}`;
  const items = (new Installation(new App(), 'install', settings).toJson() as Manifest[]).map((manifest) => {
    if (manifest.kind !== 'ValidatingWebhookConfiguration') return manifest;
    const { webhooks } = manifest as unknown as { webhooks: object[] };
    return { ...manifest, webhooks: webhooks.map((webhook) => ({ ...webhook, clientConfig: { url } })) };
  });
  await writeFile(join(folder, 'install.json'), JSON.stringify({ apiVersion: 'v1', kind: 'List', items }));
}

async function end(): Promise<void> {
  await operator?.process.stop();
  operator = undefined;
}

/** Restarts the operator with the account and the settings of the applied Deployment. */
async function rollOut(): Promise<void> {
  await end();
  const mode = '--output=jsonpath={.spec.template.spec.containers[0].env[?(@.name=="WEBHOOK")].value}';
  const WEBHOOK_MODE = await cluster.must(['get', 'deployment', OPERATOR, inNamespace, mode]);
  const settings = { ...webhookSettings(port), WEBHOOK: WEBHOOK_MODE, LEADER_ELECTION: 'false' };
  operator = await startOperator(cluster.sandbox, { name: `operator-${WEBHOOK_MODE}`, settings });
}

/** Resolves when the API server calls the webhook. */
function isCalled(): Promise<true> {
  const unquoted = automation('villa', 'probe', {
    triggers: [{ trigger: 'state', entity_id: 'light.sofa', to: true }],
  });
  return until('the API server calls the webhook', async () => {
    const apply = ['apply', '--server-side', '--dry-run=server', '--namespace=home', '--filename=-'];
    const { stderr } = await cluster.kubectl(apply, JSON.stringify(unquoted));
    if (stderr.includes('Warning: spec.triggers[0].to is the boolean true')) return true;
    throw new Error(stderr);
  });
}

async function authorities(): Promise<string> {
  const { webhooks } = (await cluster.find<Registration>(...registration))!;
  return Buffer.from(webhooks[0].clientConfig.caBundle ?? '', 'base64').toString('utf8');
}

interface Served {
  readonly fingerprint: string;
  readonly issuer: string;
}

/**
 * Returns the certificate that the operator serves.
 * @throws Error the authorities in the registration do not trust it
 */
async function served(): Promise<Served> {
  const socket = connect({ host: ADDRESS, port, ca: await authorities() });
  try {
    await once(socket, 'secureConnect');
    const { fingerprint256: fingerprint, issuer } = socket.getPeerCertificate();
    return { fingerprint, issuer: String(issuer.CN) };
  } finally {
    socket.destroy();
  }
}

const serves = (what: string, isMeant: (certificate: Served) => boolean) =>
  until(`${what} is served`, async () => isMeant(await served()));

async function may(verb: string, resource: string, ...where: readonly string[]): Promise<boolean> {
  const { stdout, stderr } = await cluster.kubectl([
    ...['auth', 'can-i', verb, resource, `--as=${ACCOUNT}`],
    ...where,
  ]);
  const answer = stdout.trim();
  if (answer !== 'yes' && answer !== 'no') throw new Error(`kubectl does not know: ${stderr}`);
  return answer === 'yes';
}

/** Returns those of the objects that exist. */
async function existing(manifests: readonly Manifest[]): Promise<string[]> {
  const input = JSON.stringify({ apiVersion: 'v1', kind: 'List', items: manifests });
  const printed = await cluster.must(['get', '--ignore-not-found', '--output=name', '--filename=-'], input);
  return printed.split('\n').filter((name) => name !== '');
}

const ofWebhook = (manifests: readonly Manifest[]) =>
  manifests.filter(
    ({ kind, metadata }) => metadata.name === WEBHOOK.service || kind === 'ValidatingWebhookConfiguration',
  );
const shipped = () => readManifests('dist/install.yaml') as Manifest[];

describe('an installed operator', () => {
  test('changes from its own certificate to one of cert-manager and back, and its webhook is called', async () => {
    await synthesize(undefined);
    await cluster.must(['apply', '--server-side', `--filename=${join(folder, 'install.json')}`]);
    await rollOut();
    await isCalled();

    await cluster.must(['apply', '--server-side', ...(await filesOf('certManager'))]);
    for (const kind of ['certificates', 'issuers'])
      await until(
        `${kind} are served`,
        async () => (await cluster.kubectl(['get', `${kind}.cert-manager.io`])).code === 0,
      );
    const [synth, deploy, revoke, , wait, ...others] = commandsUnder(CERTIFICATE, 'Change to cert-manager');
    expect(others).toEqual([]);
    await follow([synth!, deploy!, revoke!]);
    await rollOut();
    // The operator's own certificate stays until cert-manager has replaced it.
    await isCalled();
    await until(
      'the operator may not write the CA',
      async () => !(await may('patch', registration.join('/'))),
    );
    for (let renewal = 0; renewal < 2; renewal++) {
      const fingerprint = await certManager.issue();
      await certManager.inject();
      await serves(
        'the certificate of cert-manager',
        (certificate) => certificate.fingerprint === fingerprint,
      );
      await isCalled();
    }
    await follow([wait!]);

    const [unset, again, forget, , renew] = commandsUnder(CERTIFICATE, 'Change back to the operator');
    await follow([unset!, again!, forget!]);
    await rollOut();
    await isCalled();
    const { metadata } = (await cluster.find<Registration>(...registration))!;
    expect(metadata.annotations ?? {}).not.toHaveProperty(['cert-manager.io/inject-ca-from']);
    await follow([renew!]);
    await serves('a certificate of the operator', ({ issuer }) => issuer.includes('webhook CA'));
    await isCalled();
    expect((await authorities()).match(/BEGIN CERTIFICATE/g)!.length).toBeLessThanOrEqual(2);
  });

  test('is left without a webhook by the documented commands, and gets it back', async () => {
    const [synth, deploy, ...deletions] = commandsUnder(CERTIFICATE, WITHOUT);
    await follow([synth!, deploy!]);
    await end(); // `make deploy` waits for the pods of the new variant
    await follow(deletions);
    expect(await existing(ofWebhook(shipped()))).toEqual([]);
    expect(await cluster.find('secret', WEBHOOK.secret, inNamespace)).toBeUndefined();
    await follow(commandsUnder(CERTIFICATE, 'Change back to the operator').slice(0, 2));
    await rollOut();
    await isCalled();
  });

  test('is limited to some namespaces by the documented commands, and keeps none of its former rights', async () => {
    await end();
    await until('it has rights everywhere', () => may('list', 'secrets', '--namespace=garden'));
    // The namespace exists already, and the rollout is watched below, so the first and the last command are
    // left out.
    await follow(commandsUnder(INSTALL, 'For the namespace of your hubs').slice(1, -1));
    await follow(commandsUnder(LIMIT, 'After an installation for the whole cluster'));
    await follow(commandsUnder(CERTIFICATE, WITHOUT).slice(-4));
    const kept = new Set((readManifests('dist/namespaced/install.yaml') as Manifest[]).map(nameOf));
    expect(await existing(shipped().filter((manifest) => !kept.has(nameOf(manifest))))).toEqual([]);
    const value =
      '--output=jsonpath={.spec.template.spec.containers[0].env[?(@.name=="WATCH_NAMESPACES")].value}';
    expect(await cluster.must(['get', 'deployment', OPERATOR, inNamespace, value])).toBe('home');
    await until('it has rights in home', () => may('list', 'secrets', '--namespace=home'));
    await until('it has none elsewhere', async () => !(await may('list', 'secrets', '--namespace=garden')));

    const ofVariant = commandsUnder('docs/how-to/uninstall.md', 'With kubectl').filter((command) =>
      /watched-namespace|namespaced/.test(command),
    );
    await follow(ofVariant);
    const roles = ['roles,rolebindings', '--namespace=home', '--output=name'];
    expect(await cluster.must(['get', ...roles])).toBe('');
    expect(await existing(shipped())).toEqual([]);
  });
});

function nameOf({ kind, metadata: { name, namespace = '' } }: Manifest): string {
  return [kind, namespace, name].join('/');
}

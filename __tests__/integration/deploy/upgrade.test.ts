import { readFile } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { RELEASED } from '../../../release/record-crds';
import { installOperator, startOperator, type OperatorProcess } from '../../../sandbox/operator-process';
import { until } from '../../cluster';
import { automation, configuration, hub, type Manifest } from '../../cluster/home';
import { StandInHub } from '../../cluster/stand-in-hub';
import { OwnCluster } from './own-cluster';

const AUTOMATIONS = 197;
const NAMESPACE = 'home';

interface Stored {
  readonly kind: string;
  readonly metadata: {
    readonly name: string;
    readonly resourceVersion: string;
    readonly generation?: number;
    readonly managedFields?: readonly { readonly manager: string; readonly time?: string }[];
  };
}

// The test waits for all automations twice.
jest.setTimeout(1_200_000);

let cluster: OwnCluster;
let standIn: StandInHub;
let operator: OperatorProcess;

beforeAll(async () => {
  [cluster, standIn] = await Promise.all([OwnCluster.start(), StandInHub.start()]);
});
afterAll(async () => {
  await operator?.process.stop();
  await cluster.stop();
});

/** The log level shows the end of each reconcile. */
const start = async (name: string) => {
  operator = await startOperator(cluster.sandbox, {
    name,
    // On a busy machine an answer may take longer than a lease lasts.
    settings: { ALLOW_LOCAL_HUBS: 'true', LEADER_ELECTION: 'false', LOG_LEVEL: 'debug' },
  });
};

/** Returns the resources that the running operator has reconciled so far, as `kind/name`. */
async function reconciled(): Promise<ReadonlySet<string>> {
  const lines = (await readFile(operator.process.logFile, 'utf8')).split('\n').slice(0, -1);
  return new Set(
    lines
      .filter((line) => line.includes('"outcome"'))
      .map((line) => JSON.parse(line) as { kind: string; name: string })
      .map(({ kind, name }) => `${kind}/${name}`),
  );
}

const list = async (kinds: string) =>
  (
    JSON.parse(
      await cluster.must([
        'get',
        kinds,
        `--namespace=${NAMESPACE}`,
        '--output=json',
        '--show-managed-fields',
      ]),
    ) as {
      items: Stored[];
    }
  ).items;

/**
 * Returns all resources, and the objects that the operator made for them, with fields that show a write of
 * the operator.
 */
async function versions(): Promise<Readonly<Record<string, unknown>>> {
  const resources = await list('home');
  const made = await list('statefulsets,services,configmaps,secrets,persistentvolumeclaims');
  return Object.fromEntries([
    ...resources.map(({ kind, metadata: { name, resourceVersion } }) => [`${kind}/${name}`, resourceVersion]),
    // Kubernetes also writes these, so only the operator's fields count.
    ...made.map(({ kind, metadata: { name, generation, managedFields = [] } }) => [
      `${kind}/${name}`,
      [generation, ...managedFields.filter(({ manager }) => manager.startsWith('hub-operator'))],
    ]),
  ]);
}

const hubWrites = async () =>
  ((await (await fetch(`${standIn.url}/bench`)).json()) as { writes: number; automations: number }).writes;

const inHome = ({ metadata, ...rest }: Manifest) => ({
  ...rest,
  metadata: { ...metadata, namespace: NAMESPACE },
});

describe('an upgrade of dist/', () => {
  test('of a cluster with 200 resources writes nothing to the hub, changes no resource and no pod', async () => {
    await cluster.must(['apply', '--server-side', `--filename=${RELEASED}`]);
    await installOperator(cluster.sandbox); // installs the roles; the kinds follow as they were released
    await cluster.must(['apply', '--server-side', '--force-conflicts', `--filename=${RELEASED}`]);
    await cluster.must(['create', 'namespace', NAMESPACE]);
    const labels = { 'hub-operator.dev/hub': 'cottage' };
    const token = {
      apiVersion: 'v1',
      kind: 'Secret',
      metadata: { name: 'cottage', namespace: NAMESPACE, labels },
    };
    const resources = [
      { ...hub('cottage'), spec: { external: { url: standIn.url, tokenSecretRef: { name: 'cottage' } } } },
      hub('flat'),
      configuration('flat'),
      ...Array.from({ length: AUTOMATIONS }, (_, index) => automation('cottage', `automation-${index}`)),
    ];
    await start('before');
    const items = [{ ...token, stringData: { token: 'any' } }, ...resources.map(inHome)];
    await cluster.must(['apply', '--filename=-'], JSON.stringify({ apiVersion: 'v1', kind: 'List', items }));
    await until('all automations are in the hub', async () => (await hubWrites()) >= AUTOMATIONS);
    await cluster.must([
      'wait',
      '--for=condition=Ready',
      'hubautomations',
      '--all',
      `--namespace=${NAMESPACE}`,
      '--timeout=240s',
    ]);
    await until('the other Hub has its StatefulSet', async () => (await list('statefulsets')).length === 1);
    const written = JSON.stringify(await list('statefulsets'));
    expect(written).toContain('"manager":"hub-operator');
    await until('nothing changes any more', async () => {
      const first = JSON.stringify(await versions());
      const { length } = await readFile(operator.process.logFile, 'utf8');
      await sleep(3_000);
      return (
        length === (await readFile(operator.process.logFile, 'utf8')).length &&
        first === JSON.stringify(await versions())
      );
    });
    await operator.process.stop();
    const before = { versions: await versions(), writes: await hubWrites() };
    expect(Object.keys(before.versions).length).toBeGreaterThan(resources.length);

    await installOperator(cluster.sandbox);
    await start('after');
    await until('each resource is reconciled', async () => {
      const done = await reconciled();
      return resources.every(({ kind, metadata }) => done.has(`${kind}/${metadata.name}`));
    });
    await operator.process.stop(); // after the stop all writes that had begun are complete
    expect({ versions: await versions(), writes: await hubWrites() }).toEqual(before);
  });
});

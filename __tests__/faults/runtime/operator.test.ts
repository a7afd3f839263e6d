import { join } from 'node:path';
import { readFile, writeFile } from 'node:fs/promises';
import { API_GROUP, API_VERSION } from '../../../operator/kinds/group';
import { type ClusterObject, pathOf, type ResourceType } from '../../../operator/runtime/objects';
import type { CustomResource } from '../../../operator/kinds/resource';
import { conditionOf } from '../../../operator/runtime/conditions';
import type { ApiClient } from '../../../operator/runtime/api-client';
import { builtin } from '../../../operator/runtime/types';
import { readCluster } from '../../../sandbox/kubeconfig';
import { freshNamespace, kubeconfig, sandboxDirectory, until } from '../../cluster';
import { adminCluster, applyAs } from '../../cluster/admin-cluster';
import { startTestOperator, type TestOperator } from '../../cluster/operator';
import { type Fault, FaultProxy } from '../proxy';
import { randomNumbers, seed } from '../../seed';

// The operator as it ships, with faults between it and the API server. Its resources are configurations,
// whose ConfigMaps it generates without a hub.

const configurations: ResourceType = {
  group: API_GROUP,
  version: API_VERSION,
  plural: 'hubconfigurations',
  kind: 'HubConfiguration',
};

interface ConfigMap extends ClusterObject {
  readonly data?: Readonly<Record<string, string>>;
}

let truth: ApiClient;
let proxy: FaultProxy;
beforeAll(() => {
  truth = adminCluster();
});
beforeEach(async () => {
  proxy = await FaultProxy.start(await readCluster(kubeconfig()));
});
afterEach(() => proxy.stop());

const put = (namespace: string, name: string, title: string, annotations: Record<string, string> = {}) =>
  applyAs<CustomResource>(truth, 'user', configurations, {
    apiVersion: `${API_GROUP}/${API_VERSION}`,
    kind: configurations.kind,
    metadata: { name, namespace, annotations },
    spec: { hubRef: { name }, configuration: `homeassistant:\n  name: ${title}\n` },
  });

async function list<T extends ClusterObject>(type: ResourceType, namespace: string): Promise<T[]> {
  return (await truth.request<{ items: T[] }>({ method: 'GET', path: pathOf(type, namespace) })).items;
}

/**
 * Throws unless each configuration, in its current generation, waits for its Hub and has one ConfigMap with
 * its contents.
 */
async function right(namespace: string, titles: ReadonlyMap<string, string>): Promise<true> {
  const resources = await list<CustomResource>(configurations, namespace);
  expect(resources.map(({ metadata }) => metadata.name).sort()).toEqual([...titles.keys()].sort());
  for (const resource of resources) {
    const { metadata, status } = resource;
    expect([status?.observedGeneration, conditionOf(resource, 'Ready')?.reason]).toEqual([
      metadata.generation,
      'HubNotFound',
    ]);
  }
  const made = (await list<ConfigMap>(builtin.ConfigMap, namespace)).filter(
    ({ metadata }) => metadata.labels?.['app.kubernetes.io/managed-by'] === 'hub-operator',
  );
  expect(made).toHaveLength(titles.size);
  const texts = made.map(({ data }) => data?.['configuration.yaml'] ?? '');
  for (const title of titles.values()) expect(texts.filter((text) => text.includes(title))).toHaveLength(1);
  return true;
}

/** Writes a kubeconfig of the operator's service account that leads through the proxy. */
async function throughProxy(): Promise<string> {
  const own = JSON.parse(await readFile(process.env['HUB_SANDBOX_OPERATOR_KUBECONFIG']!, 'utf8')) as {
    clusters: { cluster: Record<string, unknown> }[];
  };
  // the client refuses plain HTTP without this
  own.clusters[0]!.cluster = { server: proxy.url, 'insecure-skip-tls-verify': true };
  const path = join(sandboxDirectory(), `faults-${new URL(proxy.url).port}.kubeconfig`);
  await writeFile(path, JSON.stringify(own), { mode: 0o600 });
  return path;
}

describe('the operator under faults of the API server', () => {
  test(`under a storm of refusals and resets (seed ${seed}) the state becomes right, nothing is made twice, and at rest nothing is written`, async () => {
    const namespace = await freshNamespace('storm');
    const operator = await startTestOperator(namespace, { kubeconfig: await throughProxy() });
    await until('it leads', async () => (await operator.log()).includes('"became leader"'));
    const faults: Fault[] = [
      { type: 'answer', status: 500 },
      { type: 'answer', status: 503 },
      { type: 'answer', status: 409 },
      { type: 'answer', status: 429, headers: { 'Retry-After': '1' } },
      { type: 'reset' },
      { type: 'slow', milliseconds: 300 },
    ];
    const random = randomNumbers();
    proxy.fault = () => (random() < 0.7 ? undefined : faults[Math.floor(random() * faults.length)]);
    const titles = new Map<string, string>();
    for (let round = 0; round < 30; round++) {
      const name = `hub-${round % 12}`;
      titles.set(name, `Title ${round} of ${name}.`);
      await put(namespace, name, titles.get(name)!);
      if (round % 5 === 0) proxy.resetStreams();
      if (round % 7 === 6) {
        await truth.request({ method: 'DELETE', path: pathOf(configurations, namespace, name) });
        titles.delete(name);
      }
    }
    await until('the world is right although the storm goes on', () => right(namespace, titles));
    proxy.fault = () => undefined;
    /** Triggers a reconcile of each configuration. Resolves with the writes during that time. */
    const touch = async (mark: string): Promise<string[]> => {
      const outcomes = (await operator.outcomes()).length;
      const before = proxy.requests.length;
      for (const [name, title] of titles) await put(namespace, name, title, { 'example.org/touched': mark });
      await until('each was reconciled', async () => {
        const reconciled = (await operator.outcomes()).slice(outcomes).map(({ name }) => name);
        return [...titles.keys()].every((name) => reconciled.includes(name));
      });
      return proxy.requests.slice(before).filter((each) => !each.startsWith('GET'));
    };
    await touch('with what the storm has left to do');
    await operator.calm();
    await operator.eventsWritten();
    await operator.calm();
    expect(await touch('in the calm')).toEqual([]);
    // One connection for each watch, and those that sixteen workers keep for the next request: none is
    // leaked.
    await until(
      'the connections of the storm are closed',
      async () => (await proxy.connections()) <= proxy.openWatches + 18,
    );
    const log = await operator.log();
    expect(log).not.toContain('unhandled rejection');
    expect(await operator.stop()).toBe(0);
  });

  test('a leader that is killed, and one whose way to the server is cut, are followed by the other', async () => {
    const namespace = await freshNamespace('takeover');
    const start = async (name: string, options = {}) => {
      const settings = { POD_NAME: name, LEADER_ELECTION: 'true' };
      const operator = await startTestOperator(namespace, { ...options, settings });
      await until(`${name} is warm`, async () => (await operator.page('/readyz')) === 'ok\n');
      return operator;
    };
    const leads = (operator: TestOperator) => operator.metric('leader_election_master_status');
    const one = await start('one', { kubeconfig: await throughProxy() });
    await until('one leads', async () => (await leads(one)) === 1);
    const two = await start('two');
    expect(await two.page('/metrics')).toContain(`leader_election_master_status{name="${namespace}"} 0`);
    await put(namespace, 'first', 'Title of the first.');
    await until('one works', () => right(namespace, new Map([['first', 'Title of the first.']])));

    // The leader is cut off and ends itself. This test cannot show that it ends before the other begins,
    // since either process may be late; unit/runtime/leader.test.ts shows it with a manual clock.
    proxy.fault = () => ({ type: 'silence' });
    proxy.freezeStreams();
    expect(await one.ended).not.toBe(0);
    await until('two leads', async () => (await leads(two)) === 1);
    const titles = new Map([
      ['first', 'Title of the first.'],
      ['second', 'Title of the second.'],
    ]);
    await put(namespace, 'second', titles.get('second')!);
    await until('two works', () => right(namespace, titles));

    // The leader is killed.
    const three = await start('three');
    await two.kill();
    await until('three leads', async () => (await leads(three)) === 1);
    await put(namespace, 'first', 'Another title of the first.');
    await until('three works', () => right(namespace, titles.set('first', 'Another title of the first.')));
  });
});

import { readFile } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { KubeConfig } from '@kubernetes/client-node';
import { API_GROUP, API_VERSION, GROUP_VERSION } from '../operator/kinds/group';
import { systemClock } from '../operator/clock';
import { pathOf, type ResourceType } from '../operator/runtime/objects';
import type { CustomResource } from '../operator/kinds/resource';
import { ApiClient } from '../operator/runtime/api-client';
import { startSandbox } from '../sandbox';
import {
  bundleOperator,
  installOperator,
  type OperatorProcess,
  startOperator,
} from '../sandbox/operator-process';

/**
 * What the runtime costs, measured on the shipped bundle against a real API server: `N` resources (default 10,000)
 * of a kind without a module, so that nothing but the runtime works on them.
 */

export const repositories: ResourceType = {
  group: API_GROUP,
  version: API_VERSION,
  plural: 'hubcommunityrepositories',
  kind: 'HubCommunityRepository',
};
export const NAMESPACE = 'bench';
const CREATES_AT_ONCE = 40;
// Milliseconds.
const SETTLE_DURATION = 20_000;
const IDLE_DURATION = 30_000;
const CHANGES = 100;

export type Figures = Readonly<Record<string, number | string>>;

export async function benchRuntime(count: number): Promise<Figures> {
  const sandbox = await startSandbox({ progress: 'plain' });
  const config = new KubeConfig();
  config.loadFromFile(sandbox.kubeconfig);
  const cluster = new ApiClient(config, { clock: systemClock, timeout: 60_000 });
  try {
    await bundleOperator();
    await installOperator(sandbox);
    await cluster.request({
      method: 'POST',
      path: '/api/v1/namespaces',
      body: { metadata: { name: NAMESPACE } },
    });
    const first = await startOperator(sandbox, { settings: { LOG_LEVEL: 'warn' } });
    const synced = await measureFirstSync(cluster, first, count);
    await sleep(SETTLE_DURATION);
    const rest = await measureRest(first);
    const latency = await measureLatency(cluster);
    await first.process.stop();
    const again = await startOperator(sandbox, { settings: { LOG_LEVEL: 'warn' } });
    const restart = await measureRestart(again, count);
    await again.process.stop();
    return { resources: count, ...synced, ...rest, ...latency, ...restart };
  } finally {
    cluster.close();
    await sandbox.stop();
  }
}

async function measureFirstSync(
  cluster: ApiClient,
  operator: OperatorProcess,
  count: number,
): Promise<Figures> {
  const began = Date.now();
  await createRepositories(cluster, count);
  const created = Date.now();
  await untilMetric(
    operator,
    (metrics) => sum(metrics, 'rest_client_requests_total', /method="PATCH"/) >= count,
  );
  const done = Date.now();
  return {
    'created in s': seconds(created - began),
    'all written after the last was created, s': seconds(done - created),
    'status writes per s': Math.round(count / ((done - began) / 1_000)),
  };
}

/** `repository-0` … of a hundred hubs. */
export async function createRepositories(cluster: ApiClient, count: number): Promise<void> {
  let next = 0;
  const create = async () => {
    for (let index = next++; index < count; index = next++) await createRepository(cluster, index);
  };
  await Promise.all(Array.from({ length: CREATES_AT_ONCE }, create));
}

/** Of a kind that the operator does not support yet: it only writes that to status. */
export async function createRepository(cluster: ApiClient, index: number): Promise<void> {
  const metadata = { name: `repository-${index}`, namespace: NAMESPACE };
  const hubRef = { name: `hub-${index % 100}` };
  const spec = { hubRef, category: 'theme', repository: `bench/theme-${index}`, ref: 'v0' };
  await cluster.request({
    method: 'POST',
    path: pathOf(repositories, NAMESPACE),
    body: { apiVersion: GROUP_VERSION, kind: 'HubCommunityRepository', metadata, spec },
  });
}

async function measureRest(operator: OperatorProcess): Promise<Figures> {
  const cpuBefore = sum(await scrape(operator), 'process_cpu_seconds_total');
  const writesBefore = sum(
    await scrape(operator),
    'rest_client_requests_total',
    /method="(PATCH|POST|PUT|DELETE)"/,
  );
  await sleep(IDLE_DURATION);
  const metrics = await scrape(operator);
  const leaseWrites = IDLE_DURATION / 2_000;
  const writes =
    sum(metrics, 'rest_client_requests_total', /method="(PATCH|POST|PUT|DELETE)"/) - writesBefore;
  return {
    'idle RSS, MB': await residentMegabytes(operator.process.pid),
    'idle CPU, %':
      Math.round(
        ((sum(metrics, 'process_cpu_seconds_total') - cpuBefore) / (IDLE_DURATION / 1_000)) * 1_000,
      ) / 10,
    'idle writes, but for the lease': Math.max(0, Math.round(writes - leaseWrites - 1)),
  };
}

/** From the API server's answer to a change until the status that the reconcile has written. */
async function measureLatency(cluster: ApiClient): Promise<Figures> {
  const latencies: number[] = [];
  for (let change = 0; change < CHANGES; change++) {
    const name = `repository-${change}`;
    const generation = await changeRepository(cluster, name, change + 1);
    const began = performance.now();
    for (;;) {
      const path = pathOf(repositories, NAMESPACE, name);
      const { status } = await cluster.request<CustomResource>({ method: 'GET', path });
      if (status?.observedGeneration === generation) break;
    }
    latencies.push(performance.now() - began);
  }
  latencies.sort((a, b) => a - b);
  return {
    'change → status p50, ms': Math.round(latencies[CHANGES / 2]!),
    'change → status p95, ms': Math.round(latencies[CHANGES * 0.95]!),
  };
}

/** Resolves with the generation that the change made. */
export async function changeRepository(cluster: ApiClient, name: string, version: number): Promise<number> {
  const { metadata } = await cluster.request<CustomResource>({
    method: 'PATCH',
    path: pathOf(repositories, NAMESPACE, name),
    contentType: 'application/merge-patch+json',
    body: { spec: { ref: `v${version}` } },
  });
  return metadata.generation;
}

async function measureRestart(operator: OperatorProcess, count: number): Promise<Figures> {
  const began = Date.now();
  await untilMetric(operator, (metrics) => sum(metrics, 'controller_runtime_reconcile_total') >= count);
  const took = Date.now() - began;
  const metrics = await scrape(operator);
  const passSeconds = sum(metrics, 'controller_runtime_reconcile_time_seconds_sum');
  return {
    'all checked after a start, s': seconds(took),
    'no-op passes per s of work': Math.round(count / Math.max(passSeconds, 0.001)),
    'writes of them': sum(metrics, 'rest_client_requests_total', /method="PATCH"/),
  };
}

async function untilMetric(operator: OperatorProcess, reached: (metrics: string) => boolean): Promise<void> {
  const deadline = Date.now() + 10 * 60_000;
  for (;;) {
    const metrics = await scrape(operator).catch(() => ''); // it is still starting
    if (metrics && reached(metrics)) return;
    if (Date.now() > deadline) throw new Error('not reached within ten minutes');
    await sleep(200);
  }
}

export async function scrape({ url }: OperatorProcess): Promise<string> {
  return (await fetch(`${url}/metrics`)).text();
}

/** The sum of all series of a metric whose labels match. */
export function sum(metrics: string, name: string, labels = /^/): number {
  return metrics
    .split('\n')
    .map((line) => /^(\w+)(\{.*\})? (\S+)$/.exec(line))
    .filter((match) => match?.[1] === name && labels.test(match[2] ?? ''))
    .reduce((total, match) => total + Number(match![3]), 0);
}

export async function residentMegabytes(pid: number): Promise<number> {
  const status = await readFile(`/proc/${pid}/status`, 'utf8');
  return Math.round(Number(/VmRSS:\s+(\d+)/.exec(status)![1]) / 1_024);
}

const seconds = (milliseconds: number): number => Math.round(milliseconds / 100) / 10;

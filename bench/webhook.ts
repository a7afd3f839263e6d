import { setTimeout as sleep } from 'node:timers/promises';
import { KubeConfig } from '@kubernetes/client-node';
import { systemClock } from '../operator/base/clock';
import { GROUP_VERSION } from '../operator/kinds/group';
import { WEBHOOK } from '../operator/kinds/object-names';
import { ApiClient } from '../operator/runtime/api-client';
import { ApiError } from '../operator/runtime/api-errors';
import { pathOf } from '../operator/runtime/objects';
import { builtin } from '../operator/runtime/types';
import { type Sandbox, startSandbox } from '../sandbox';
import { bundleOperator } from '../sandbox/image/bundle';
import { installOperator, type OperatorProcess, startOperator } from '../sandbox/operator-process';
import { freePort } from '../sandbox/ports';
import { installWebhook, webhookSettings } from '../sandbox/webhook';
import { automations, NAMESPACE } from './automation-load';
import { automationParts } from './automation-spec';
import { scrape, scrapeStarting, sum } from './operator-metrics';
import type { Figures } from './runtime';

/**
 * Measures the time that the webhook adds to a write, with `count` automations in the cache of the operator
 * and a real API server that calls it.
 *
 * The automations are suspended, since automations that wait for a hub would be reconciled every 30 s, and
 * the CPU time is that of the whole process. There is no lease, which could be lost on a busy machine.
 */

const CREATES_AT_ONCE = 8;
const REVIEWS = 1_000;
const LATENCY = 'controller_runtime_webhook_latency_seconds';
/** In seconds; one of the upper bounds of the histogram. */
const BAR = '0.02';
// Durations in milliseconds.
const CALM = 3_000;
const POLL = 200;

export async function benchWebhook(count: number): Promise<Figures> {
  const sandbox = await startSandbox({ progress: 'plain' });
  const config = new KubeConfig();
  config.loadFromFile(sandbox.kubeconfig);
  const cluster = new ApiClient(config, { clock: systemClock });
  try {
    const operator = await startWithWebhook(sandbox, cluster);
    await create(cluster, 'automation0');
    await dryRuns(cluster, 1); // warms up the code that answers reviews
    const one = await reviewsDuring(operator, () => dryRuns(cluster, 1));
    const creation = await reviewsDuring(operator, () => createMany(cluster, count));
    await untilCalm(operator);
    const rest = await reviewsDuring(operator, () => dryRuns(cluster, count));
    const path = pathOf(builtin.ValidatingWebhookConfiguration, undefined, WEBHOOK.configuration);
    await cluster.request({ method: 'DELETE', path });
    await untilNotCalled(cluster, operator);
    const { times } = await dryRuns(cluster, count);
    const refused = rest.result.refused;
    await operator.process.stop();
    return {
      automations: count,
      'reviews within 20 ms while they are created, %': creation.share,
      'reviews within 20 ms at rest, %': rest.share,
      'operator CPU for a review, ms, with one automation → with all': ratio(one.cpu, rest.cpu),
      'duplicates refused': `${refused} of ${REVIEWS / 2}`,
      'dry-run of a creation, p50 without → with the webhook, ms': pair(times, rest.result.times, 0.5),
      'dry-run of a creation, p99 without → with the webhook, ms': pair(times, rest.result.times, 0.99),
    };
  } finally {
    cluster.close();
    await sandbox.stop();
  }
}

/** Resolves when the API server calls the webhook. */
async function startWithWebhook(sandbox: Sandbox, cluster: ApiClient): Promise<OperatorProcess> {
  await bundleOperator();
  await installOperator(sandbox);
  const body = { metadata: { name: NAMESPACE } };
  await cluster.request({ method: 'POST', path: '/api/v1/namespaces', body });
  const port = await freePort();
  const settings = { LOG_LEVEL: 'warn', LEADER_ELECTION: 'false', ...webhookSettings(port) };
  const operator = await startOperator(sandbox, { settings });
  await installWebhook(sandbox, port);
  await untilCalled(cluster, operator);
  return operator;
}

async function createMany(cluster: ApiClient, count: number): Promise<void> {
  let next = 1; // automation0 exists already
  const work = async () => {
    for (let index = next++; index < count; index = next++) await create(cluster, `automation${index}`);
  };
  await Promise.all(Array.from({ length: CREATES_AT_ONCE }, work));
}

function create(cluster: ApiClient, name: string, { id, dryRun }: { id?: string; dryRun?: 'All' } = {}) {
  const spec = {
    hubRef: { name: 'villa' },
    suspend: true,
    ...automationParts(0),
    ...(id !== undefined && { id }),
  };
  return cluster.request({
    method: 'POST',
    path: pathOf(automations, NAMESPACE),
    query: { dryRun },
    body: {
      apiVersion: GROUP_VERSION,
      kind: automations.kind,
      metadata: { name, namespace: NAMESPACE },
      spec,
    },
  });
}

/** Sends dry runs of creations. Every second one has the id of a stored automation. */
async function dryRuns(cluster: ApiClient, count: number) {
  const times: number[] = [];
  let refused = 0;
  for (let index = 0; index < REVIEWS; index++) {
    const id = index % 2 === 0 ? `automation${index % count}` : `free${index}`;
    const began = performance.now();
    await create(cluster, `dry-run-${index}`, { id, dryRun: 'All' }).catch((error: unknown) => {
      if (!(error instanceof ApiError) || error.status !== 422) throw error;
      refused += 1;
    });
    times.push(performance.now() - began);
  }
  return { times, refused };
}

/**
 * Runs some work and measures its reviews: the percentage that was answered in time, and the CPU milliseconds
 * of each.
 */
async function reviewsDuring<T>(
  operator: OperatorProcess,
  work: () => Promise<T>,
): Promise<{ readonly share: number; readonly cpu: number; readonly result: T }> {
  const before = await reviews(operator);
  const result = await work();
  const after = await reviews(operator);
  const all = after.all - before.all;
  const share = (after.inTime - before.inTime) / all;
  const cpu = ((after.cpu - before.cpu) * 1_000) / all;
  return { share: Math.round(share * 1_000) / 10, cpu, result };
}

async function reviews(operator: OperatorProcess) {
  const metrics = await scrape(operator);
  return {
    all: countOf(metrics),
    cpu: sum(metrics, 'process_cpu_seconds_total'),
    inTime: sum(metrics, `${LATENCY}_bucket`, new RegExp(`le="${BAR}"`)),
  };
}

const countOf = (metrics: string): number => sum(metrics, `${LATENCY}_count`);

/** Resolves when the API server calls the webhook. */
async function untilCalled(cluster: ApiClient, operator: OperatorProcess): Promise<void> {
  while (countOf(await scrapeStarting(operator)) === 0) {
    await create(cluster, 'probe', { dryRun: 'All' });
    await sleep(POLL);
  }
}

async function untilNotCalled(cluster: ApiClient, operator: OperatorProcess): Promise<void> {
  for (let before = -1; ; await sleep(POLL)) {
    const { all } = await reviews(operator);
    if (all === before) return;
    before = all;
    await create(cluster, 'probe', { dryRun: 'All' });
  }
}

/** Resolves when the operator has been idle for a while. */
async function untilCalm(operator: OperatorProcess): Promise<void> {
  let since = Date.now();
  for (let before = -1; Date.now() - since < CALM; await sleep(POLL)) {
    const metrics = await scrape(operator);
    const now = sum(metrics, 'controller_runtime_reconcile_total');
    if (now !== before || sum(metrics, 'workqueue_depth') > 0) since = Date.now();
    before = now;
  }
}

function ratio(one: number, all: number): string {
  return `${one.toFixed(2)} → ${all.toFixed(2)} (${(all / one).toFixed(2)})`;
}

function pair(without: number[], withIt: number[], share: number): string {
  const at = (times: number[]) =>
    Math.round(times.sort((a, b) => a - b)[Math.floor(times.length * share)]! * 10) / 10;
  return `${at(without)} → ${at(withIt)}`;
}

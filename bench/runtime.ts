import { readFile } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { KubeConfig } from '@kubernetes/client-node';
import { systemClock } from '../operator/base/clock';
import { ApiClient } from '../operator/runtime/api-client';
import { startSandbox } from '../sandbox';
import { bundleOperator } from '../sandbox/image/bundle';
import { installOperator, type OperatorProcess, startOperator } from '../sandbox/operator-process';
import { AutomationLoad, isSettled, LOAD_SETTINGS } from './automation-load';
import { clusterWrites, scrape, scrapeStarting, sum } from './operator-metrics';

/**
 * Measures the cost of the operator itself, with the shipped bundle and heap size and a real API server: `N`
 * automations (default 10,000) on lightweight stand-ins of hubs.
 */

const HUBS = 10;
// Durations in milliseconds.
const SETTLE_DURATION = 20_000;
const IDLE_DURATION = 30_000;
const SYNC_TIMEOUT = 60 * 60_000;
const CHANGES = 100;

const settings = { LOG_LEVEL: 'warn', ...LOAD_SETTINGS };

export type Figures = Readonly<Record<string, number | string>>;

export async function benchRuntime(count: number): Promise<Figures> {
  const sandbox = await startSandbox({ progress: 'plain' });
  const config = new KubeConfig();
  config.loadFromFile(sandbox.kubeconfig);
  const cluster = new ApiClient(config, { clock: systemClock, timeout: 60_000 });
  let load: AutomationLoad | undefined;
  try {
    await bundleOperator();
    await installOperator(sandbox);
    load = await AutomationLoad.start(sandbox, cluster, HUBS);
    const first = await startOperator(sandbox, { settings });
    const synced = await measureFirstSync(load, first, count);
    await sleep(SETTLE_DURATION);
    const rest = await measureRest(first);
    const latency = await measureLatency(load);
    const peak = await residentMegabytes(first.process.pid, 'VmHWM');
    await first.process.stop();
    const again = await startOperator(sandbox, { settings });
    const restart = await measureRestart(again, count);
    await again.process.stop();
    return {
      automations: count,
      hubs: HUBS,
      ...synced,
      ...rest,
      ...latency,
      ...restart,
      'peak RSS, MB': peak,
    };
  } finally {
    await load?.stop();
    cluster.close();
    await sandbox.stop();
  }
}

async function measureFirstSync(
  load: AutomationLoad,
  operator: OperatorProcess,
  count: number,
): Promise<Figures> {
  // A new installation first waits for its lease, which must not be part of the measurement.
  await untilMetric(operator, (metrics) => sum(metrics, 'leader_election_master_status') === 1);
  const before = sum(await scrape(operator), 'process_cpu_seconds_total');
  const began = Date.now();
  await load.createMany(count);
  const created = Date.now();
  const done = await load.untilReady(SYNC_TIMEOUT);
  const metrics = await scrape(operator);
  const writes = sum(metrics, 'rest_client_requests_total', /method="PATCH"/);
  return {
    'created in s': seconds(created - began),
    'all Ready after the last was created, s': seconds(done - created),
    'processor time of the operator for it, s': seconds(
      1_000 * (sum(metrics, 'process_cpu_seconds_total') - before),
    ),
    'writes to the cluster for each automation': Math.round((writes / count) * 10) / 10,
  };
}

async function measureRest(operator: OperatorProcess): Promise<Figures> {
  const before = await scrape(operator);
  await sleep(IDLE_DURATION);
  const metrics = await scrape(operator);
  return {
    'idle RSS, MB': await residentMegabytes(operator.process.pid),
    'idle CPU, %':
      Math.round(
        ((sum(metrics, 'process_cpu_seconds_total') - sum(before, 'process_cpu_seconds_total')) /
          (IDLE_DURATION / 1_000)) *
          1_000,
      ) / 10,
    'idle writes, but for the lease': clusterWrites(metrics) - clusterWrites(before),
  };
}

/**
 * Measures the time from the API server's answer to a change until the first status for the change, and until
 * Ready.
 */
async function measureLatency(load: AutomationLoad): Promise<Figures> {
  const reported: number[] = [];
  const ready: number[] = [];
  for (let index = 0; index < CHANGES; index++) {
    const generation = await load.change(index, 1);
    const began = performance.now();
    let isReported = false;
    for (;;) {
      const automation = await load.read(index);
      if (!isReported && automation.status?.observedGeneration === generation) {
        isReported = true;
        reported.push(performance.now() - began);
      }
      if (isSettled(automation)) break;
    }
    ready.push(performance.now() - began);
  }
  const at = (times: number[], share: number) =>
    Math.round(times.sort((a, b) => a - b)[Math.floor(times.length * share)]!);
  return {
    'change → status p50, ms': at(reported, 0.5),
    'change → status p95, ms': at(reported, 0.95),
    'change → Ready p95, ms': at(ready, 0.95),
  };
}

async function measureRestart(operator: OperatorProcess, count: number): Promise<Figures> {
  const began = Date.now();
  await untilMetric(
    operator,
    (metrics) =>
      sum(metrics, 'controller_runtime_reconcile_total', /controller="HubAutomation".*result="success"/) >=
      count,
  );
  const took = Date.now() - began;
  const metrics = await scrape(operator);
  return {
    'all checked after a start, s': seconds(took),
    'writes of them': sum(metrics, 'rest_client_requests_total', /method="PATCH"/),
  };
}

async function untilMetric(operator: OperatorProcess, reached: (metrics: string) => boolean): Promise<void> {
  const deadline = Date.now() + 10 * 60_000;
  for (;;) {
    const metrics = await scrapeStarting(operator);
    if (metrics && reached(metrics)) return;
    if (Date.now() > deadline) throw new Error('not reached within ten minutes');
    await sleep(200);
  }
}

/**
 * Returns memory of a process in MB (Linux). `VmHWM` is the highest use so far; `RssFile` is the part that
 * maps files.
 */
export async function residentMegabytes(
  pid: number,
  field: 'VmRSS' | 'VmHWM' | 'RssFile' = 'VmRSS',
): Promise<number> {
  const status = await readFile(`/proc/${pid}/status`, 'utf8');
  return Math.round(Number(new RegExp(`${field}:\\s+(\\d+)`).exec(status)![1]) / 1_024);
}

const seconds = (milliseconds: number): number => Math.round(milliseconds / 100) / 10;

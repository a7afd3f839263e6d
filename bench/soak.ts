import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { KubeConfig } from '@kubernetes/client-node';
import { systemClock } from '../operator/base/clock';
import { ApiClient } from '../operator/runtime/api-client';
import { ApiError, ApiServerUnreachable, isConflict, isNotFound } from '../operator/runtime/api-errors';
import { type Sandbox, startSandbox } from '../sandbox';
import { bundleOperator } from '../sandbox/image/bundle';
import {
  installOperator,
  operatorKubeconfig,
  type OperatorProcess,
  startOperator,
} from '../sandbox/operator-process';
import { rerouted, TcpProxy } from '../sandbox/tcp-proxy';
import { AutomationLoad, isSettled, LOAD_SETTINGS } from './automation-load';
import { ConfigurationLoad } from './configuration-load';
import { FailedRequests } from './failed-requests';
import { scrape, sum } from './operator-metrics';
import { letHubsPass } from './passing-hubs';
import { residentParts } from './resident-parts';
import { type Figures, residentMegabytes } from './runtime';

const RESOURCES = 500;
const HUBS = 5;
const CONFIGURATIONS = 5;
/** One in this many changes is the change of a configuration. */
const CONFIGURATION_SHARE = 10;
// Intervals in milliseconds.
const CHANGE_INTERVAL = 50;
const RESET_INTERVAL = 5_000;
const RESTART_INTERVAL = 45_000;
/**
 * Share of the run after which memory and sockets are first read. By then every part of the operator has been
 * in use.
 */
const WARM = 0.25;
/** Number of hostile hubs that are created and removed after the changes, and of the floods of each. */
const PASSING_HUBS = 60;
const FLOODS = 12;
/** The idle time afterwards as a share of `minutes`, and the highest resident memory in MB at its end. */
const IDLE_SHARE = 0.5;
const MAX_IDLE_MEMORY = 115;
// Timeouts in milliseconds.
const READY_TIMEOUT = 10 * 60_000;
const RECOVERY_TIMEOUT = 60_000;

interface Usage {
  readonly megabytes: number;
  readonly files: number;
  readonly connections: number;
}

/**
 * Runs `minutes` of changes, deletions and creations among 500 automations on lightweight stand-ins of hubs,
 * and of changes of five configurations. During that time the operator's connections to the API server are
 * reset every few seconds, and the API server is killed every 45 s.
 *
 * At the end each automation must be Ready in its current version, and the operator must know no others. Each
 * generated configuration must be that of its resource. Memory, files and connections must not have grown by
 * more than a tenth since the first quarter. Each failed request must be explained by a fault at that time.
 *
 * Then sixty hostile hubs are created and removed. Half of `minutes` later the operator must have released
 * the memory that their messages needed.
 */
export async function soak(minutes: number): Promise<Figures> {
  const sandbox = await startSandbox({ progress: 'plain' });
  const config = new KubeConfig();
  config.loadFromFile(sandbox.kubeconfig);
  const cluster = new ApiClient(config, { clock: systemClock });
  const proxy = await TcpProxy.start(Number(new URL(sandbox.apiServer).port));
  let load: AutomationLoad | undefined;
  try {
    await bundleOperator();
    await installOperator(sandbox);
    load = await AutomationLoad.start(sandbox, cluster, HUBS);
    const operator = await startRerouted(sandbox, proxy);
    await load.createMany(RESOURCES);
    await load.untilReady(READY_TIMEOUT);
    const configurations = await ConfigurationLoad.start(cluster, CONFIGURATIONS);
    const changed = await underChaos(sandbox, operator, proxy, { load, configurations, minutes });
    const rested = await afterFloods(cluster, operator, minutes);
    if (!operator.process.running) throw new Error('the operator did not survive');
    return {
      minutes,
      ...changed.figures,
      ...rested.figures,
      verdict: changed.hasPassed && rested.hasPassed ? 'passed' : 'FAILED',
    };
  } finally {
    await load?.stop();
    cluster.close();
    await proxy.stop();
    await sandbox.stop();
  }
}

/** Starts the operator, whose connections to the API server go through the proxy. */
async function startRerouted(sandbox: Sandbox, proxy: TcpProxy): Promise<OperatorProcess> {
  const kubeconfig = await rerouted(
    await operatorKubeconfig(sandbox),
    join(sandbox.directory, 'rerouted.kubeconfig'),
    proxy.port,
  );
  const settings = { LOG_LEVEL: 'warn', ...LOAD_SETTINGS };
  return startOperator(sandbox, { kubeconfig, settings });
}

interface Course {
  readonly load: AutomationLoad;
  readonly configurations: ConfigurationLoad;
  readonly minutes: number;
}

interface Part {
  readonly figures: Figures;
  readonly hasPassed: boolean;
}

/** The changes, while connections are reset and the API server is killed. */
async function underChaos(
  sandbox: Sandbox,
  operator: OperatorProcess,
  proxy: TcpProxy,
  { load, configurations, minutes }: Course,
): Promise<Part> {
  const failed = new FailedRequests(operator);
  const end = Date.now() + minutes * 60_000;
  const changing = change(load, configurations, end);
  const chaos = [
    failed.watch(end),
    repeat(RESET_INTERVAL, end, () => proxy.reset()),
    repeat(RESTART_INTERVAL, end, () => failed.during(() => restartApiServer(sandbox))),
  ];
  await sleep(minutes * 60_000 * WARM);
  const before = await usage(operator.process.pid, proxy);
  const [changes] = await Promise.all([changing, ...chaos]);
  const missed = await untilCaughtUp(load, configurations, operator);
  const after = await usage(operator.process.pid, proxy);
  const metrics = await scrape(operator);
  const unexplained = failed.unexplained();
  return {
    figures: {
      'changes, deletions and creations': changes,
      'automations that missed their last change, or their deletion': missed.automations,
      'configurations that missed their last change': missed.configurations,
      'RSS at the first quarter → end, MB': `${before.megabytes} → ${after.megabytes}`,
      'open files': `${before.files} → ${after.files}`,
      'connections to the API server': `${before.connections} → ${after.connections}`,
      'watches that broke off': sum(metrics, 'hub_operator_watch_failures_total'),
      'reconciles that failed (API server unavailable)': sum(
        metrics,
        'controller_runtime_reconcile_errors_total',
      ),
      'failed requests, by cause': failed.explained(),
      'failed requests without a cause': unexplained || 'none',
    },
    hasPassed: isNone(missed) && !unexplained && grewLittle(before, after),
  };
}

/** The hostile hubs, and the rest after them. */
async function afterFloods(cluster: ApiClient, operator: OperatorProcess, minutes: number): Promise<Part> {
  const floods = await letHubsPass(cluster, PASSING_HUBS, FLOODS);
  const flooded = await residentMegabytes(operator.process.pid);
  await sleep(minutes * 60_000 * IDLE_SHARE);
  const { total, javascript, allocator, files } = await residentParts(operator);
  return {
    figures: {
      'hostile hubs that came and went, floods of them': `${PASSING_HUBS}, ${floods}`,
      'RSS after the floods, MB': flooded,
      'RSS after a rest of half the minutes, MB': total,
      'of these: JavaScript heap, heap of the C library, files': `${javascript}, ${allocator}, ${files}`,
    },
    hasPassed: total <= MAX_IDLE_MEMORY,
  };
}

/**
 * Changes one automation after another, and recreates one in twenty; in between it changes configurations.
 * Changes that the API server did not accept do not matter, because its state at the end is compared.
 * Resolves with the number of changes that were accepted.
 */
async function change(load: AutomationLoad, configurations: ConfigurationLoad, end: number): Promise<number> {
  let taken = 0;
  const gone = new Set<number>();
  for (let count = 1; Date.now() < end; count++) {
    const index = (count * 7919) % RESOURCES;
    try {
      if (count % CONFIGURATION_SHARE === 0) {
        await configurations.change(count / CONFIGURATION_SHARE);
      } else if (gone.has(index)) {
        await load.create(index);
        gone.delete(index);
      } else if (count % 20 === 1) {
        gone.add(index);
        await load.delete(index);
      } else {
        await load.change(index, count);
      }
      taken += 1;
    } catch (error) {
      if (!(error instanceof ApiServerUnreachable || error instanceof ApiError)) throw error;
      // After a lost answer the state of the automation is unknown; the next answer shows it.
      if (isNotFound(error)) gone.add(index);
      if (isConflict(error)) gone.delete(index);
    }
    await sleep(CHANGE_INTERVAL);
  }
  return taken;
}

async function restartApiServer({ controlPlane }: Sandbox): Promise<void> {
  await controlPlane.kill('kube-apiserver');
  await controlPlane.start('kube-apiserver');
}

async function repeat(everyMs: number, end: number, action: () => void | Promise<void>): Promise<void> {
  for (;;) {
    await sleep(everyMs);
    if (Date.now() + everyMs > end) return; // the time before the end stays undisturbed
    await action();
  }
}

interface Missed {
  /**
   * Number of automations that are not Ready in their current version, or that the operator knows although
   * they were deleted.
   */
  readonly automations: number;
  /** Number of configurations that differ from their resource. */
  readonly configurations: number;
}

const isNone = ({ automations, configurations }: Missed): boolean => automations + configurations === 0;

async function untilCaughtUp(
  load: AutomationLoad,
  configurations: ConfigurationLoad,
  operator: OperatorProcess,
): Promise<Missed> {
  for (const deadline = Date.now() + RECOVERY_TIMEOUT; ; await sleep(1_000)) {
    const items = await load.list();
    const known = sum(await scrape(operator), 'hub_operator_cached_objects', /kind="HubAutomation"/);
    const behind = items.filter((item) => !isSettled(item));
    const missed = {
      automations: behind.length + Math.abs(known - items.length),
      configurations: await configurations.missed(),
    };
    if (isNone(missed) || Date.now() > deadline) return missed;
  }
}

/** Returns the highest usage within two resets, because there are few connections just after a reset. */
async function usage(pid: number, proxy: TcpProxy): Promise<Usage> {
  const most = { megabytes: 0, files: 0, connections: 0 };
  for (const end = Date.now() + 2 * RESET_INTERVAL; Date.now() < end; await sleep(250)) {
    most.megabytes = Math.max(most.megabytes, await residentMegabytes(pid));
    most.files = Math.max(most.files, (await readdir(`/proc/${pid}/fd`)).length);
    most.connections = Math.max(most.connections, proxy.open);
  }
  return most;
}

const grewLittle = (before: Usage, after: Usage): boolean =>
  after.megabytes <= before.megabytes * 1.1 &&
  after.files <= before.files * 1.1 + 2 &&
  after.connections <= before.connections * 1.1 + 2;

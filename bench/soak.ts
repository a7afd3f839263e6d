import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { KubeConfig } from '@kubernetes/client-node';
import { systemClock } from '../operator/clock';
import { requests } from '../operator/kinds/annotations';
import { pathOf } from '../operator/runtime/objects';
import type { CustomResource } from '../operator/runtime/resource';
import { ApiError, Cluster, ClusterUnreachable } from '../operator/runtime/transport';
import { type Sandbox, startSandbox } from '../sandbox';
import {
  bundleOperator,
  installOperator,
  operatorKubeconfig,
  startOperator,
} from '../sandbox/operator-process';
import { rerouted, TcpProxy } from '../sandbox/tcp-proxy';
import { createFloors, type Figures, floors, NAMESPACE, residentMegabytes, scrape, sum } from './runtime';

const RESOURCES = 500;
const CHANGE_EVERY_MS = 50;
const RESET_EVERY_MS = 5_000;
const RESTART_EVERY_MS = 45_000;
/** When memory and sockets are first looked at: by then all has been used that will be. */
const WARM = 0.25;
const RECOVERY_MS = 60_000;

interface Usage {
  readonly megabytes: number;
  readonly files: number;
  readonly connections: number;
}

/**
 * `minutes` of changes to 500 resources while the operator's connections are reset every few seconds and the API
 * server is killed every 45 s. At the end every resource must have been worked with its last change, and memory, files
 * and connections must not have grown by more than a tenth since the first quarter.
 */
export async function soak(minutes: number): Promise<Figures> {
  const sandbox = await startSandbox({ progress: 'plain' });
  const config = new KubeConfig();
  config.loadFromFile(sandbox.kubeconfig);
  const cluster = new Cluster(config, { clock: systemClock });
  const proxy = await TcpProxy.start(Number(new URL(sandbox.apiServer).port));
  try {
    await bundleOperator();
    await installOperator(sandbox);
    await cluster.request({
      method: 'POST',
      path: '/api/v1/namespaces',
      body: { metadata: { name: NAMESPACE } },
    });
    await createFloors(cluster, RESOURCES);
    const kubeconfig = await rerouted(
      await operatorKubeconfig(sandbox),
      join(sandbox.directory, 'rerouted.kubeconfig'),
      proxy.port,
    );
    const operator = await startOperator(sandbox, { kubeconfig, settings: { LOG_LEVEL: 'warn' } });
    const wanted = new Map<string, string>();
    const end = Date.now() + minutes * 60_000;
    const changing = change(cluster, wanted, end);
    const chaos = [
      repeat(RESET_EVERY_MS, end, () => proxy.reset()),
      repeat(RESTART_EVERY_MS, end, () => restartApiServer(sandbox)),
    ];
    await sleep(minutes * 60_000 * WARM);
    const before = await usage(operator.process.pid, proxy);
    await Promise.all([changing, ...chaos]);
    const missed = await untilCaughtUp(cluster, wanted);
    const after = await usage(operator.process.pid, proxy);
    const metrics = await scrape(operator);
    if (!operator.process.running) throw new Error('the operator did not survive');
    return {
      minutes,
      changes:
        wanted.size === 0
          ? 0
          : [...wanted.values()].reduce((most, value) => Math.max(most, Number(value)), 0),
      'resources that missed their last change': missed,
      'RSS at the first quarter → end, MB': `${before.megabytes} → ${after.megabytes}`,
      'open files': `${before.files} → ${after.files}`,
      'connections to the API server': `${before.connections} → ${after.connections}`,
      'watches that broke off': sum(metrics, 'hub_operator_watch_failures_total'),
      'passes that failed (API server away)': sum(metrics, 'controller_runtime_reconcile_errors_total'),
      verdict: missed === 0 && grewLittle(before, after) ? 'passed' : 'FAILED',
    };
  } finally {
    cluster.close();
    await proxy.stop();
    await sandbox.stop();
  }
}

/** Changes one resource after another; what the API server did not take does not count. */
async function change(cluster: Cluster, wanted: Map<string, string>, end: number): Promise<void> {
  for (let count = 0; Date.now() < end; count++) {
    const name = `floor-${(count * 7919) % RESOURCES}`;
    try {
      const body = { metadata: { annotations: { [requests.reconcileAt]: String(count) } } };
      await cluster.request({
        method: 'PATCH',
        path: pathOf(floors, NAMESPACE, name),
        contentType: 'application/merge-patch+json',
        body,
      });
      wanted.set(name, String(count));
    } catch (error) {
      if (!(error instanceof ClusterUnreachable || error instanceof ApiError)) throw error;
      wanted.delete(name); // it may have been taken or not: the next one tells
    }
    await sleep(CHANGE_EVERY_MS);
  }
}

async function restartApiServer({ controlPlane }: Sandbox): Promise<void> {
  await controlPlane.kill('kube-apiserver');
  await controlPlane.start('kube-apiserver');
}

async function repeat(everyMs: number, end: number, action: () => void | Promise<void>): Promise<void> {
  for (;;) {
    await sleep(everyMs);
    if (Date.now() + everyMs > end) return; // the last calm is for the end
    await action();
  }
}

async function untilCaughtUp(cluster: Cluster, wanted: ReadonlyMap<string, string>): Promise<number> {
  for (const deadline = Date.now() + RECOVERY_MS; ; await sleep(1_000)) {
    const { items } = await cluster.request<{ items: CustomResource[] }>({
      method: 'GET',
      path: pathOf(floors, NAMESPACE),
    });
    const missed = items.filter(
      ({ metadata, status }) =>
        wanted.has(metadata.name) && status?.lastHandledReconcileAt !== wanted.get(metadata.name),
    ).length;
    if (missed === 0 || Date.now() > deadline) return missed;
  }
}

async function usage(pid: number, proxy: TcpProxy): Promise<Usage> {
  return {
    megabytes: await residentMegabytes(pid),
    files: (await readdir(`/proc/${pid}/fd`)).length,
    connections: proxy.open,
  };
}

const grewLittle = (before: Usage, after: Usage): boolean =>
  after.megabytes <= before.megabytes * 1.1 &&
  after.files <= before.files * 1.1 + 2 &&
  after.connections <= before.connections * 1.1 + 2;

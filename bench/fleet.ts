import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { API_GROUP } from '../operator/kinds/group';
import { pathOf } from '../operator/runtime/objects';
import { builtin } from '../operator/runtime/types';
import { freePort } from '../sandbox/ports';
import { SandboxProcess } from '../sandbox/process';
import { type OperatorProcess, startOperator } from '../sandbox/operator-process';
import { HubBench } from './hub-bench';
import { scrapeStarting, sum } from './operator-metrics';
import type { Figures } from './runtime';

/**
 * One operator with hundreds of hubs: its memory, its start, a change in all hubs, hubs that hang, and another leader. The hubs are
 * light stand-ins outside of the cluster, ten in a process (fleet-stand-ins.mjs).
 */

const NAMESPACES = 10;
const RESOURCES = 50;
const HUBS_OF_PROCESS = 10;
const REST_DURATION = 60_000; // milliseconds
const SETTINGS = { LOG_LEVEL: 'warn', ALLOW_LOCAL_HUBS: 'true' };
/** To reach. */
const LARGEST_MEMORY = 320; // MiB
const LONGEST_START = 30; // seconds
const LONGEST_CHANGE = 120; // seconds

interface FleetHub {
  readonly namespace: string;
  readonly name: string;
  readonly url: string;
}

export async function benchFleet(count: number): Promise<Figures> {
  const bench = await HubBench.start(SETTINGS);
  const processes: SandboxProcess[] = [];
  try {
    const hubs: FleetHub[] = [];
    for (let first = 0; first < count; first += HUBS_OF_PROCESS) {
      const ports = await Promise.all(
        Array.from({ length: Math.min(HUBS_OF_PROCESS, count - first) }, () => freePort()),
      );
      processes.push(await standIns(bench, first, ports));
      ports.forEach((port, index) => {
        const number = first + index;
        const namespace = `home-${number % NAMESPACES}`;
        hubs.push({ namespace, name: `hub-${number}`, url: `http://127.0.0.1:${port}` });
      });
    }
    for (let index = 0; index < NAMESPACES; index++) await bench.createNamespace(`home-${index}`);
    const began = Date.now();
    await atOnce(hubs, (hub) => create(bench, hub));
    await allReady(bench);
    const setUp = Date.now() - began;
    await sleep(10_000);
    const memory = await residentMemory(bench.operator);
    const rest = await writesAtRest(bench);
    const all = hubs.length * (RESOURCES + 1);
    const start = await restarted(bench, all);
    const change = await changeAll(bench, hubs, 'changed');
    const hung = processes.slice(0, Math.ceil(processes.length / 10));
    for (const { pid } of hung) process.kill(pid, 'SIGSTOP');
    const others = hubs.slice(hung.length * HUBS_OF_PROCESS);
    const beside = await changeAll(bench, others, 'changed again');
    for (const { pid } of hung) process.kill(pid, 'SIGCONT');
    const leader = await otherLeader(bench, all);
    const largest = Math.max(memory, await residentMemory(bench.operator));
    const passed =
      largest <= LARGEST_MEMORY && start <= LONGEST_START && change <= LONGEST_CHANGE && rest === 0;
    return {
      hubs: hubs.length,
      resources: hubs.length * RESOURCES,
      'all Ready after, s': seconds(setUp),
      'memory of the operator, MiB': largest,
      'writes in a minute at rest': rest,
      'start: all looked at after, s': start,
      'one line changed in all: in the hubs after, s': change,
      'the same while one in ten hangs, in the others, s': beside,
      'another leader: all looked at after, s': leader,
      verdict: passed ? 'passed' : 'FAILED',
    };
  } finally {
    for (const each of processes) await each.kill();
    await bench.stop();
  }
}

function standIns(bench: HubBench, first: number, ports: readonly number[]): Promise<SandboxProcess> {
  return SandboxProcess.start({
    name: `stand-ins-${first}`,
    command: [process.execPath, join(__dirname, 'fleet-stand-ins.mjs'), ...ports.map(String)],
    directory: join(bench.sandbox.directory, 'stand-ins'),
    env: {},
  });
}

async function create(bench: HubBench, { namespace, name, url }: FleetHub): Promise<void> {
  const tokenSecretRef = { name: `${name}-token` };
  await bench.cluster.request({
    method: 'POST',
    path: pathOf(builtin.Secret, namespace),
    body: {
      apiVersion: 'v1',
      kind: 'Secret',
      metadata: { name: tokenSecretRef.name, namespace, labels: { [`${API_GROUP}/hub`]: name } },
      stringData: { token: 'a token that a stand-in takes' },
    },
  });
  await bench.create(namespace, 'Hub', name, { version: '2026.11.0', external: { url, tokenSecretRef } });
  for (let index = 0; index < RESOURCES; index++)
    await bench.create(namespace, 'HubAutomation', `${name}-${index}`, {
      hubRef: { name },
      alias: `Automation ${index} of ${name}`,
      triggers: [{ trigger: 'time', at: '07:30:00' }],
      actions: [{ action: 'light.turn_on', target: { entity_id: 'light.sofa' } }],
    });
}

async function allReady(bench: HubBench): Promise<void> {
  for (let index = 0; index < NAMESPACES; index++) await bench.untilReady(`home-${index}`, 'HubAutomation');
}

/** Seconds until all have been reconciled by a process, from its start. */
async function untilAllLookedAt(operator: OperatorProcess, all: number, began: number): Promise<number> {
  const looked = async () =>
    sum(await scrapeStarting(operator), 'controller_runtime_reconcile_total', /result="success"/);
  while ((await looked()) < all) await sleep(100);
  return seconds(Date.now() - began);
}

async function restarted(bench: HubBench, all: number): Promise<number> {
  await bench.operator.process.stop();
  const began = Date.now();
  await bench.startOperator();
  return untilAllLookedAt(bench.operator, all, began);
}

/** Writes to the cluster and to hubs, but for those of the lease. */
async function writesAtRest(bench: HubBench): Promise<number> {
  const writes = async () =>
    sum(await scrapeStarting(bench.operator), 'rest_client_requests_total', /method="(PATCH|POST|DELETE)"/);
  const before = await writes();
  await sleep(REST_DURATION);
  return (await writes()) - before;
}

/** Seconds from the last change of one line in each resource until all hubs have been written to. */
async function changeAll(bench: HubBench, hubs: readonly FleetHub[], description: string): Promise<number> {
  const before = new Map(await Promise.all(hubs.map(async ({ url }) => [url, await writesOf(url)] as const)));
  await atOnce(hubs, async ({ namespace, name }) => {
    for (let index = 0; index < RESOURCES; index++)
      await bench.patch(namespace, 'HubAutomation', `${name}-${index}`, { description });
  });
  const began = Date.now();
  for (const { url } of hubs) while ((await writesOf(url)) < before.get(url)! + RESOURCES) await sleep(100);
  return seconds(Date.now() - began);
}

async function otherLeader(bench: HubBench, all: number): Promise<number> {
  const standby = await startOperator(bench.sandbox, { name: 'standby', settings: SETTINGS });
  while ((await scrapeStarting(standby)) === '') await sleep(100);
  await sleep(10_000); // its cache is complete
  const former = bench.operator;
  const began = Date.now();
  await former.process.stop();
  bench.operator = standby;
  return untilAllLookedAt(standby, all, began);
}

async function writesOf(url: string): Promise<number> {
  return ((await (await fetch(`${url}/bench`)).json()) as { writes: number }).writes;
}

async function residentMemory({ process: { pid } }: OperatorProcess): Promise<number> {
  const status = await readFile(`/proc/${pid}/status`, 'utf8');
  return Math.round(Number(/VmRSS:\s+(\d+)/.exec(status)![1]) / 1_024);
}

/** As many at once as the API server takes well. */
async function atOnce<T>(items: readonly T[], work: (item: T) => Promise<void>): Promise<void> {
  let next = 0;
  const run = async () => {
    for (let item = items[next++]; item !== undefined; item = items[next++]) await work(item);
  };
  await Promise.all(Array.from({ length: 20 }, run));
}

const seconds = (milliseconds: number): number => Math.round(milliseconds / 100) / 10;

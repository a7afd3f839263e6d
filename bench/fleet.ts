import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { API_GROUP } from '../operator/kinds/group';
import { freePort } from '../sandbox/ports';
import { SandboxProcess } from '../sandbox/process';
import { type OperatorOptions, type OperatorProcess, startOperator } from '../sandbox/operator-process';
import { HubBench } from './hub-bench';
import { scrapeStarting, sum } from './operator-metrics';
import { progressOf } from './progress';
import type { Figures } from './runtime';

/**
 * Measures one operator with hundreds of hubs: its memory, its start, a change in all hubs, hubs that hang,
 * and a change of the leader. The hubs are lightweight stand-ins outside of the cluster, ten in a process
 * (fleet-stand-ins.mjs).
 */

const NAMESPACES = 10;
const RESOURCES = 50;
const HUBS_OF_PROCESS = 10;
// Durations in milliseconds.
const REST_DURATION = 30_000;
const SCRAPE_INTERVAL = 1_000;
/**
 * Memory limit in bytes. With the default limit and 300 hubs, too little of the heap is free for garbage
 * collection.
 */
const CONTAINER_MEMORY = 608 * 2 ** 20;
const OPERATOR: OperatorOptions = {
  settings: { LOG_LEVEL: 'warn', ALLOW_LOCAL_HUBS: 'true' },
  memory: CONTAINER_MEMORY,
};
/** Figures to reach. */
const BARS: Readonly<Record<string, number>> = {
  'memory of the operator, MiB': 320,
  'writes at rest, in 30 s': 0,
  'start: all looked at after, s': 30,
  'one line changed in all: in the hubs after, s': 120,
};

const progress = progressOf('fleet');

interface FleetHub {
  readonly namespace: string;
  readonly name: string;
  readonly url: string;
}

/** @param minutes after which the bench ends, with the figures measured so far */
export async function benchFleet(count: number, minutes: number): Promise<Figures> {
  const deadline = Date.now() + minutes * 60_000;
  const figures: Record<string, string | number> = {
    hubs: count,
    resources: count * RESOURCES,
    'memory limit of the container, MiB': CONTAINER_MEMORY / 2 ** 20,
  };
  const bench = await HubBench.start(OPERATOR);
  const processes: SandboxProcess[] = [];
  try {
    const left = deadline - Date.now();
    const course = measure(bench, processes, count, { figures, deadline });
    course.catch(() => undefined); // a failure after the deadline must not be unhandled
    await Promise.race([
      course,
      sleep(left).then(() => {
        throw new Error(`It was not done within ${minutes} minutes.`);
      }),
    ]);
  } catch (error) {
    figures['not finished'] = error instanceof Error ? error.message : String(error);
  } finally {
    for (const each of processes) await each.kill();
    await bench.stop();
  }
  const isReached = ([name, most]: [string, number]) => Number(figures[name] ?? Infinity) <= most;
  figures['verdict'] = Object.entries(BARS).every(isReached) ? 'passed' : 'FAILED';
  return figures;
}

async function measure(
  bench: HubBench,
  processes: SandboxProcess[],
  count: number,
  { figures, deadline }: { readonly figures: Record<string, string | number>; readonly deadline: number },
): Promise<void> {
  const record = (name: string, value: number) => {
    progress(`${name}: ${value}`);
    figures[name] = value;
  };
  const hubs = await startHubs(bench, processes, count);
  progress('all stand-ins answer');
  for (let index = 0; index < NAMESPACES; index++) await bench.createNamespace(`home-${index}`);
  const began = Date.now();
  await atOnce(hubs, (hub) => create(bench, hub));
  progress('all resources are created');
  await allReady(bench, Math.min(count, NAMESPACES), deadline);
  record('all Ready after the first was created, s', seconds(Date.now() - began));
  await bench.untilQuiet();
  record('writes at rest, in 30 s', await writesAtRest(bench));
  const memory = await residentMemory(bench.operator);
  record('start: all looked at after, s', await restarted(bench, hubs.length));
  record('one line changed in all: in the hubs after, s', await changeAll(bench, hubs, RESOURCES, 'changed'));
  record('memory of the operator, MiB', Math.max(memory, await residentMemory(bench.operator)));
  const hung = processes.slice(0, Math.ceil(processes.length / 10));
  for (const { pid } of hung) process.kill(pid, 'SIGSTOP');
  const others = hubs.slice(hung.length * HUBS_OF_PROCESS);
  record(
    'five changed in each while one in ten hangs: in the others after, s',
    await changeAll(bench, others, 5, 'changed again'),
  );
  for (const { pid } of hung) process.kill(pid, 'SIGCONT');
  record('another leader: all looked at after, s', await otherLeader(bench, hubs.length));
}

/** @param processes receives the processes of the stand-ins */
async function startHubs(
  bench: HubBench,
  processes: SandboxProcess[],
  count: number,
): Promise<readonly FleetHub[]> {
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
  return hubs;
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
  await bench.createToken(namespace, tokenSecretRef.name, { [`${API_GROUP}/hub`]: name });
  await bench.create(namespace, 'Hub', name, { external: { url, tokenSecretRef } });
  for (let index = 0; index < RESOURCES; index++)
    await bench.create(namespace, 'HubAutomation', `${name}-${index}`, {
      hubRef: { name },
      alias: `Automation ${index} of ${name}`,
      triggers: [{ trigger: 'time', at: '07:30:00' }],
      actions: [{ action: 'light.turn_on', target: { entity_id: 'light.sofa' } }],
    });
}

async function allReady(bench: HubBench, namespaces: number, deadline: number): Promise<void> {
  for (let index = 0; index < namespaces; index++)
    await bench.untilReady(`home-${index}`, 'HubAutomation', deadline - Date.now());
}

/** Returns the seconds until a process has reconciled the automations of all hubs. */
async function untilAllLookedAt(operator: OperatorProcess, hubs: number, began: number): Promise<number> {
  const looked = async () =>
    sum(
      await scrapeStarting(operator),
      'controller_runtime_reconcile_total',
      /controller="HubAutomation".*result="success"/,
    );
  // Each scrape makes the operator count all resources by their state, so frequent scrapes would slow down
  // its start.
  while ((await looked()) < hubs * RESOURCES) await sleep(SCRAPE_INTERVAL);
  return seconds(Date.now() - began);
}

async function restarted(bench: HubBench, hubs: number): Promise<number> {
  await bench.operator.process.stop();
  const began = Date.now();
  await bench.startOperator();
  return untilAllLookedAt(bench.operator, hubs, began);
}

/** Counts writes to the cluster except those of the lease. */
async function writesAtRest(bench: HubBench): Promise<number> {
  const before = await bench.writes();
  await sleep(REST_DURATION);
  return (await bench.writes()) - before;
}

/**
 * Changes one line in `count` resources of each hub. Returns the seconds from the last change until all hubs
 * have been written to.
 */
async function changeAll(
  bench: HubBench,
  hubs: readonly FleetHub[],
  count: number,
  description: string,
): Promise<number> {
  const before = new Map(await Promise.all(hubs.map(async ({ url }) => [url, await writesOf(url)] as const)));
  await atOnce(hubs, async ({ namespace, name }) => {
    for (let index = 0; index < count; index++)
      await bench.patch(namespace, 'HubAutomation', `${name}-${index}`, { description });
  });
  const began = Date.now();
  for (const { url } of hubs) while ((await writesOf(url)) < before.get(url)! + count) await sleep(100);
  return seconds(Date.now() - began);
}

async function otherLeader(bench: HubBench, hubs: number): Promise<number> {
  const standby = await startOperator(bench.sandbox, { ...OPERATOR, name: 'standby' });
  while ((await scrapeStarting(standby)) === '') await sleep(100);
  await sleep(10_000); // by then the cache of the standby is complete
  const former = bench.operator;
  const began = Date.now();
  await former.process.stop();
  bench.operator = standby;
  return untilAllLookedAt(standby, hubs, began);
}

async function writesOf(url: string): Promise<number> {
  return ((await (await fetch(`${url}/bench`)).json()) as { writes: number }).writes;
}

async function residentMemory({ process: { pid } }: OperatorProcess): Promise<number> {
  const status = await readFile(`/proc/${pid}/status`, 'utf8');
  return Math.round(Number(/VmRSS:\s+(\d+)/.exec(status)![1]) / 1_024);
}

/** Runs as many requests in parallel as the API server handles well. */
async function atOnce<T>(items: readonly T[], work: (item: T) => Promise<void>): Promise<void> {
  let next = 0;
  const run = async () => {
    for (let item = items[next++]; item !== undefined; item = items[next++]) await work(item);
  };
  await Promise.all(Array.from({ length: 20 }, run));
}

const seconds = (milliseconds: number): number => Math.round(milliseconds / 100) / 10;

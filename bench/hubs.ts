import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Hub } from '../operator/kinds';
import { objectNames } from '../operator/kinds/object-names';
import { cpuSeconds } from '../__tests__/cluster/cpu-seconds';
import { HubBench } from './hub-bench';
import { scrape, sum } from './operator-metrics';
import type { Figures } from './runtime';

/**
 * Measures whether hubs delay each other: the cost of a single hub, and of each of many, in requests and in
 * CPU time of the operator. The hubs are lightweight stand-ins (stand-in.mjs), since twenty real ones do not
 * fit on one machine.
 */

const NAMESPACES = 5;
const AUTOMATIONS = 10;
/** The duration is equal for one hub and for many, because some requests to a hub occur periodically. */
const SETUP_DURATION = 90_000; // milliseconds
const IDLE_DURATION = 60_000;
const MOST = 1.2;

interface Cost {
  readonly requestsToHub: number;
  readonly requestsToCluster: number;
  /** CPU time in milliseconds. */
  readonly cpu: number;
}

interface Phases {
  /** The minute and a half in which all resources become Ready. */
  readonly setUp: Cost;
  readonly tookMs: number;
  /** A minute in which nothing changes. */
  readonly idle: Cost;
  /** Milliseconds from a change to its write in the hub: the slowest of one change in each hub. */
  readonly slowestChange: number;
}

export async function benchHubs(many: number): Promise<Figures> {
  const alone = await measure(1);
  const together = await measure(many);
  const ratios = [
    ...ratiosOf('set-up', alone.setUp, together.setUp, many),
    ...ratiosOf('idle', alone.idle, together.idle, many),
  ];
  return {
    hubs: many,
    'automations of each': AUTOMATIONS,
    ...Object.fromEntries(ratios.map(({ name, text }) => [name, text])),
    'idle: CPU of the operator with many, %': Math.round((together.idle.cpu / IDLE_DURATION) * 1_000) / 10,
    'all Ready after, one alone → many, s': `${seconds(alone.tookMs)} → ${seconds(together.tookMs)}`,
    'slowest change alone, ms': alone.slowestChange,
    'slowest change among many, one of which hangs, ms': together.slowestChange,
    verdict: ratios.every(({ ratio }) => ratio <= MOST) ? 'passed' : 'FAILED',
  };
}

/** The cost of an operator without a hub is below the noise, so it is not subtracted. */
function ratiosOf(phase: string, alone: Cost, together: Cost, many: number) {
  const names = {
    requestsToHub: 'requests to the hub',
    requestsToCluster: 'requests to the cluster',
    cpu: 'CPU, ms',
  } as const;
  return (Object.keys(names) as (keyof Cost)[]).map((key) => {
    const one = alone[key];
    const each = together[key] / many;
    const ratio = each / Math.max(one, 1);
    return {
      name: `${phase}: ${names[key]}, of one alone → of each`,
      text: `${one.toFixed(0)} → ${each.toFixed(1)} (${ratio.toFixed(2)})`,
      ratio,
    };
  });
}

async function measure(count: number): Promise<Phases> {
  const bench = await HubBench.start();
  try {
    const hubs = Array.from({ length: count }, (_, index) => ({
      namespace: `home-${index % NAMESPACES}`,
      name: `hub-${index}`,
    }));
    for (let index = 0; index < NAMESPACES; index++) await bench.createNamespace(`home-${index}`);
    const began = Date.now();
    let tookMs = 0;
    const setUp = await cost(bench, hubs, async () => {
      for (const hub of hubs) await create(bench, hub);
      for (const { namespace } of hubs.slice(0, NAMESPACES)) {
        await bench.untilReady(namespace, 'Hub');
        await bench.untilReady(namespace, 'HubAutomation');
      }
      tookMs = Date.now() - began;
      if (tookMs > SETUP_DURATION) throw new Error(`The set-up took ${tookMs} ms`);
      await sleep(SETUP_DURATION - tookMs);
    });
    await sleep(5_000);
    const idle = await cost(bench, hubs, () => sleep(IDLE_DURATION));
    return { setUp, tookMs, idle, slowestChange: await slowestChange(bench, hubs) };
  } finally {
    await bench.stop();
  }
}

type Place = { readonly namespace: string; readonly name: string };

async function create(bench: HubBench, { namespace, name }: Place): Promise<void> {
  await bench.createToken(namespace, objectNames(name).apiToken);
  const hubRef = { name };
  await bench.create(namespace, 'HubConfiguration', name, {
    hubRef,
    configuration: 'logger:\n  default: warning\n',
  });
  const container = { name: 'hub', command: [process.execPath, join(__dirname, 'stand-in.mjs')] };
  await bench.create(namespace, 'Hub', name, {
    version: '2026.11.0',
    bootstrap: { enabled: false },
    podTemplate: { spec: { containers: [container] } },
  });
  for (let index = 0; index < AUTOMATIONS; index++) {
    await bench.create(namespace, 'HubAutomation', `${name}-${index}`, {
      hubRef,
      alias: `Automation ${index} of ${name}`,
      triggers: [{ trigger: 'time', at: '07:30:00' }],
      actions: [{ action: 'light.turn_on', target: { entity_id: 'light.sofa' } }],
    });
  }
}

async function cost(bench: HubBench, hubs: readonly Place[], during: () => Promise<unknown>): Promise<Cost> {
  const { pid } = bench.operator.process;
  const before = {
    cpu: await cpuSeconds(pid),
    cluster: await clusterRequests(bench),
    hubs: await asked(bench, hubs),
  };
  await during();
  return {
    cpu: (await cpuSeconds(pid)) * 1_000 - before.cpu * 1_000,
    requestsToCluster: (await clusterRequests(bench)) - before.cluster,
    requestsToHub: (await asked(bench, hubs)) - before.hubs,
  };
}

async function clusterRequests(bench: HubBench): Promise<number> {
  return sum(await scrape(bench.operator), 'rest_client_requests_total');
}

async function urlOf(bench: HubBench, { namespace, name }: Place): Promise<string | undefined> {
  // the Hub does not exist yet
  const hub = await bench.read<Hub>(namespace, 'Hub', name).catch(() => undefined);
  return hub?.status?.url;
}

interface Counts {
  readonly rest: number;
  readonly commands: number;
  readonly writes: number;
}

async function counts(url: string): Promise<Counts> {
  return (await (await fetch(`${url}/bench`)).json()) as Counts;
}

/** Number of requests and commands that all hubs together have answered. */
async function asked(bench: HubBench, hubs: readonly Place[]): Promise<number> {
  const numbers = await Promise.all(
    hubs.map(async (hub) => {
      const url = await urlOf(bench, hub);
      if (url === undefined) return 0;
      const { rest, commands } = await counts(url);
      return rest + commands;
    }),
  );
  return numbers.reduce((total, each) => total + each, 0);
}

/** Makes one change in each hub at the same time. Where there are many hubs, the first of them hangs. */
async function slowestChange(bench: HubBench, hubs: readonly Place[]): Promise<number> {
  const [first, ...others] = hubs;
  if (!first) return 0;
  const hangs = others.length > 0;
  if (hangs) {
    process.kill(await bench.pidOf(first.namespace, first.name), 'SIGSTOP');
    await bench.patch(first.namespace, 'HubAutomation', `${first.name}-0`, { alias: 'Never written' });
  }
  const took = await Promise.all((hangs ? others : hubs).map((hub) => change(bench, hub)));
  return Math.max(...took);
}

async function change(bench: HubBench, hub: Place): Promise<number> {
  const url = (await urlOf(bench, hub))!;
  const { writes } = await counts(url);
  await bench.patch(hub.namespace, 'HubAutomation', `${hub.name}-0`, { alias: 'Changed' });
  const began = Date.now();
  while ((await counts(url)).writes === writes) await sleep(20);
  return Date.now() - began;
}

const seconds = (milliseconds: number): number => Math.round(milliseconds / 100) / 10;

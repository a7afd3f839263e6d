import { setTimeout as sleep } from 'node:timers/promises';
import type { HubAutomation } from '../operator/kinds';
import { automationParts } from './automation-spec';
import { cpuSeconds } from '../__tests__/cluster/cpu-seconds';
import { type BenchHub, HubBench, traffic } from './hub-bench';
import { scrapeStarting, sum } from './operator-metrics';
import type { Figures } from './runtime';

/**
 * Measures the cost of automations with the shipped bundle, a real API server and real hubs. Times are ratios
 * to a floor: a bare loop that sends the same POSTs one after another to a fresh hub. Rounds of the loop and
 * of the operator alternate.
 */

const EDITS = 100;
// Durations in milliseconds.
const EDIT_DURATION = 10_000;
const SETTLE_DURATION = 3_000;
const OTHERS = 100;

/** Measures bursts of `count` automations, then a restart and single changes among `many` automations. */
export async function benchAutomations(count: number, many: number, rounds: number): Promise<Figures> {
  const bench = await HubBench.start();
  try {
    const floors: number[] = [];
    const bursts: Burst[] = [];
    for (let round = 0; round < rounds; round++) {
      // The order alternates, so that a machine that becomes warm or busy affects both measurements.
      const measures = [
        async () => floors.push(await floor(bench, count)),
        async () => bursts.push(await burst(bench, count)),
      ];
      for (const measure of round % 2 === 0 ? measures : measures.reverse()) await measure();
    }
    const best = median(bursts.map(({ milliseconds }) => milliseconds));
    const plain = median(floors);
    const hub = await bench.hub();
    await bench.createMany(hub.namespace, 'HubAutomation', many, automation);
    await bench.untilReady(hub.namespace, 'HubAutomation');
    await sleep(SETTLE_DURATION);
    return {
      automations: count,
      'floor, s': seconds(plain),
      'all Ready, s': seconds(best),
      'ratio to the floor': Math.round((best / plain) * 100) / 100,
      'ratios, all': bursts
        .map(({ milliseconds }, index) => (milliseconds / floors[index]!).toFixed(2))
        .join(' '),
      POSTs: bursts.map(({ writes }) => writes).join(' '),
      'reloads of ours': bursts.map(({ reloads }) => reloads).join(' '),
      'operator CPU, % of the hub’s': bursts.map(({ cpu }) => cpu).join(' '),
      'operator CPU for each, ms': bursts.map(({ cpuForEach }) => cpuForEach).join(' '),
      'automations of what follows': many,
      ...(await restart(bench, hub, many)),
      ...(await oneChange(bench, hub)),
      ...(await manyEdits(bench, hub)),
      ...(await threeFiles(bench, count)),
    };
  } finally {
    await bench.stop();
  }
}

interface Burst {
  readonly milliseconds: number;
  readonly writes: number;
  readonly reloads: number;
  /** Processor time of the operator, in percent of the hub's. */
  readonly cpu: number;
  /** Processor time of the operator for each automation, in milliseconds. */
  readonly cpuForEach: number;
}

/** An automation of about 0.7 KB. */
export const automation = (index: number) => ({
  hubRef: { name: 'hub' },
  ...automationParts(index),
  description:
    'Switches the light when a person arrives, and sends a notification; one of very many equal automations.',
});

/** The payload that the operator sends for an automation. */
const body = (index: number) => {
  const { hubRef: _, ...rest } = automation(index);
  return { ...rest, mode: 'single', max_exceeded: 'warning' };
};

/** Returns the milliseconds that the bare loop takes. */
export async function floor(bench: HubBench, count: number): Promise<number> {
  const hub = await bench.hub();
  const began = Date.now();
  for (let index = 0; index < count; index++) {
    await hub.client.rest.post(`/api/config/automation/config/n-${index}`, body(index), {
      timeout: 30_000,
    });
  }
  const took = Date.now() - began;
  await bench.remove(hub);
  return took;
}

async function burst(bench: HubBench, count: number): Promise<Burst> {
  const hub = await bench.hub();
  const seen = await traffic(hub);
  const cpu = async () => [await cpuSeconds(bench.operator.process.pid), await cpuSeconds(hub.pid)] as const;
  const before = await cpu();
  await bench.createMany(hub.namespace, 'HubAutomation', count, automation);
  const began = Date.now();
  const milliseconds = (await bench.untilReady(hub.namespace, 'HubAutomation')) - began;
  await sleep(SETTLE_DURATION);
  const after = await cpu();
  const [operator, hubs] = [after[0] - before[0], after[1] - before[1]];
  await bench.remove(hub);
  return {
    milliseconds,
    writes: seen.writes.length,
    reloads: seen.reloads,
    cpu: Math.round((operator / hubs) * 1_000) / 10,
    cpuForEach: Math.round((operator / count) * 10_000) / 10,
  };
}

/** Restarts the operator with unchanged automations. Nothing may be written, to the hub or to the cluster. */
async function restart(bench: HubBench, hub: BenchHub, count: number): Promise<Figures> {
  const seen = await traffic(hub);
  const began = Date.now();
  await bench.restartOperator();
  const metrics = () => scrapeStarting(bench.operator);
  const looked = (text: string) =>
    sum(text, 'controller_runtime_reconcile_total', /controller="HubAutomation".*result="success"/);
  while (looked(await metrics()) < count) await sleep(50);
  const took = Date.now() - began;
  await sleep(SETTLE_DURATION);
  const written = await bench.writes();
  return {
    'restart: all looked at after, s': seconds(took),
    'restart: writes to the hub': seen.writes.length + seen.reloads,
    'restart: writes to the cluster, with those of the lease': written,
  };
}

async function oneChange(bench: HubBench, hub: BenchHub): Promise<Figures> {
  const post = Date.now();
  await hub.client.rest.post('/api/config/automation/config/n-1', body(1), { timeout: 30_000 });
  const onePost = Date.now() - post;
  await sleep(SETTLE_DURATION);
  return {
    'one change: in use after, s': seconds(await changeOne(bench, hub)),
    'one POST, s': seconds(onePost),
  };
}

/** Changes an automation. Returns the milliseconds until the hub uses the change. */
export async function changeOne(bench: HubBench, { namespace, client }: BenchHub): Promise<number> {
  const began = Date.now();
  await bench.patch(namespace, 'HubAutomation', 'n-0', { description: 'changed' });
  const entity = (await bench.read<HubAutomation>(namespace, 'HubAutomation', 'n-0')).status!.entityId!;
  while ((await client.entities.running(entity))?.['description'] !== 'changed') await sleep(10);
  return Date.now() - began;
}

async function manyEdits(bench: HubBench, hub: BenchHub): Promise<Figures> {
  await sleep(SETTLE_DURATION);
  const seen = await traffic(hub);
  const began = Date.now();
  for (let edit = 1; edit <= EDITS; edit++) {
    await bench.patch(hub.namespace, 'HubAutomation', 'n-2', { description: `edit ${edit}` });
    await sleep(began + (edit * EDIT_DURATION) / EDITS - Date.now());
  }
  await bench.untilReady(hub.namespace, 'HubAutomation');
  const last = await hub.client.entities.read('automation', 'n-2');
  const own = seen.writes.filter(({ id }) => id === 'n-2');
  return {
    '100 edits: POSTs': own.length,
    '100 edits: first POST after, s': seconds(own[0]!.at - began),
    '100 edits: the last one won': last?.['description'] === `edit ${EDITS}` ? 'yes' : 'NO',
  };
}

/**
 * Creates scenes and scripts beside the automations. They are in three files of the hub, none of which waits
 * for another.
 */
async function threeFiles(bench: HubBench, count: number): Promise<Figures> {
  const hub = await bench.hub();
  const { namespace } = hub;
  await Promise.all([
    bench.createMany(namespace, 'HubAutomation', count, automation),
    bench.createMany(namespace, 'HubScene', OTHERS, (index) => ({
      hubRef: { name: 'hub' },
      name: `Scene ${index}`,
      entities: [{ entity_id: `light.room_${index}`, state: 'on', attributes: { brightness: 20 } }],
    })),
    bench.createMany(namespace, 'HubScript', OTHERS, (index) => ({
      hubRef: { name: 'hub' },
      alias: `Script ${index}`,
      sequence: [{ action: 'light.turn_off', target: { entity_id: `light.room_${index}` } }],
    })),
  ]);
  const began = Date.now();
  const [automations, scenes, scripts] = await Promise.all(
    ['HubAutomation', 'HubScene', 'HubScript'].map(
      async (kind) => (await bench.untilReady(namespace, kind)) - began,
    ),
  );
  return {
    'three files: automations, s': seconds(automations!),
    [`three files: ${OTHERS} scenes, s`]: seconds(scenes!),
    [`three files: ${OTHERS} scripts, s`]: seconds(scripts!),
  };
}

function median(values: readonly number[]): number {
  return [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)]!;
}

const seconds = (milliseconds: number): number => Math.round(milliseconds / 10) / 100;

import { cpuSeconds } from '../__tests__/cluster/cpu-seconds';
import { automation, changeOne, floor } from './automations';
import { HubBench, traffic } from './hub-bench';
import { progressOf } from './progress';
import type { Figures } from './runtime';

/**
 * Measures the cost of automations that are delivered as files, with the shipped bundle, a real API server
 * and real hubs. The same run measures the floor of the API (automations.ts) and that of the cluster.
 */

const progress = progressOf('delivery');

/**
 * Measures bursts of `count` and of `many` automations, and one change in each. The floor is measured with
 * `floorCount` automations.
 */
export async function benchDelivery(count: number, many: number, floorCount: number): Promise<Figures> {
  const bench = await HubBench.start();
  try {
    progress(`the floor, ${floorCount} POSTs`);
    const forEach = (await floor(bench, floorCount)) / floorCount;
    return {
      'floor of the API for each, ms': Math.round(forEach),
      ...(await asFiles(bench, count, forEach)),
      ...(await asFiles(bench, many, forEach)),
    };
  } finally {
    await bench.stop();
  }
}

async function asFiles(bench: HubBench, count: number, floorForEach: number): Promise<Figures> {
  progress(`the floor of the cluster, ${count} resources`);
  const clusterFloor = await bench.clusterFloor('HubAutomation', count, automation);
  progress(`a hub for ${count}`);
  const hub = await bench.hub(undefined, { delivery: 'File' });
  const seen = await traffic(hub);
  const cpu = async () => [await cpuSeconds(bench.operator.process.pid), await cpuSeconds(hub.pid)] as const;
  const before = await cpu();
  const writesBefore = await bench.writes();
  progress(`${count} are created`);
  const first = Date.now();
  await bench.createMany(hub.namespace, 'HubAutomation', count, automation);
  const began = Date.now();
  progress('all are accepted by the API server');
  const took = (await bench.untilReady(hub.namespace, 'HubAutomation')) - began;
  progress('all are Ready');
  await bench.untilQuiet();
  const after = await cpu();
  const clusterWrites = (await bench.writes()) - writesBefore;
  const [ofOperator, ofHub] = [after[0] - before[0], after[1] - before[1]];
  const { writes, reloads, scriptReloads } = seen;
  const posts = writes.length;
  const change = await changeOne(bench, hub);
  progress('the change is in use');
  hub.client.close(); // an idle hub disturbs the next measurement less than its removal would
  const name = (what: string) => `${count}: ${what}`;
  return {
    [name('all Ready after the last was accepted, s')]: seconds(took),
    [name('created and written twice by a plain client, s')]: seconds(clusterFloor),
    [name('all Ready after the first was created, ratio to that')]: ratio(took + began - first, clusterFloor),
    [name('writes to the cluster for each')]: Math.round((10 * clusterWrites) / count) / 10,
    [name('times faster than the floor')]: Math.round((floorForEach * count * 10) / took) / 10,
    [name('POSTs')]: posts,
    [name('reloads of automations')]: reloads,
    [name('reloads of scripts, with which the hub reads its files')]: scriptReloads,
    [name('processor time of the operator for each, ms')]: share(ofOperator, count),
    [name('processor time of the hub for each, ms')]: share(ofHub, count),
    [name('one change in use after, s')]: seconds(change),
  };
}

/** Returns milliseconds for each automation. */
const share = (total: number, count: number): number => Math.round((total / count) * 10_000) / 10;

const ratio = (value: number, floorValue: number): number => Math.round((100 * value) / floorValue) / 100;

const seconds = (milliseconds: number): number => Math.round(milliseconds / 100) / 10;

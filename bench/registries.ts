import type { ConfigRegistryType } from '../operator/client/connection/registry-types';
import { HubBench } from './hub-bench';
import type { Figures } from './runtime';

const FLOORS = 5;
const LABELS = 50;

/**
 * Creates `count` areas with their floors and labels at the same time on a real hub. Areas come first: the
 * worst order, since each of them has to wait. Most of the time goes into writes to the API server.
 */
export async function benchRegistries(count: number): Promise<Figures> {
  const bench = await HubBench.start();
  try {
    const { namespace, client } = await bench.hub();
    const creations: Record<ConfigRegistryType, number> = { floor: 0, label: 0, area: 0 };
    let updates = 0;
    for (const type of ['floor', 'label', 'area'] as const) {
      await client.connection.subscribeEvents(`${type}_registry_updated`, ({ action }) => {
        if (action === 'create') creations[type] += 1;
        else updates += 1;
      });
    }
    const before = await bench.writes();
    const began = Date.now();
    await createEntries(bench, namespace, count);
    const created = Date.now();
    const ready = await Promise.all(
      ['HubFloor', 'HubLabel', 'HubArea'].map((kind) => bench.untilReady(namespace, kind)),
    );
    const written = (await bench.writes()) - before;
    return {
      areas: count,
      floors: FLOORS,
      labels: LABELS,
      'created in the cluster, s': seconds(created - began),
      'all Ready after the first was created, s': seconds(Math.max(...ready) - began),
      'created in the hub': `${creations.floor} ${creations.label} ${creations.area}`,
      'other changes in the hub': updates,
      'writes to the cluster': written,
      'of each': Math.round((written / (count + FLOORS + LABELS)) * 10) / 10,
    };
  } finally {
    await bench.stop();
  }
}

async function createEntries(bench: HubBench, namespace: string, areas: number): Promise<void> {
  const hubRef = { name: 'hub' };
  await bench.createMany(namespace, 'HubArea', areas, (index) => ({
    hubRef,
    name: `Area ${index}`,
    floorName: `Floor ${index % FLOORS}`,
    labels: [`Label ${index % LABELS}`, `Label ${(index + 7) % LABELS}`],
  }));
  await bench.createMany(namespace, 'HubLabel', LABELS, (index) => ({ hubRef, name: `Label ${index}` }));
  await bench.createMany(namespace, 'HubFloor', FLOORS, (index) => ({ hubRef, name: `Floor ${index}` }));
}

const seconds = (milliseconds: number): number => Math.round(milliseconds / 10) / 100;

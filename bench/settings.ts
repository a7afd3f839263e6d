import { setTimeout as sleep } from 'node:timers/promises';
import type { HubClient } from '../operator/client/hub-client';
import { automationParts } from './automation-spec';
import { HubBench } from './hub-bench';
import { median } from './median';
import { type Figures, residentMegabytes } from './runtime';

/** Milliseconds of waiting after which the operator counts as idle. */
const REST = 60_000;
const ROUNDS = 10;

/**
 * Measures `count` automations, then settings of as many entities of a real hub: commands, writes to the
 * cluster, memory when idle, and the time until a change in the hub is reverted.
 */
export async function benchSettings(count: number): Promise<Figures> {
  const bench = await HubBench.start();
  try {
    const { namespace, client } = await bench.hub(configuration(count));
    await createAutomations(bench, namespace, count);
    await sleep(REST);
    const before = await residentMegabytes(bench.operator.process.pid);
    let updates = 0;
    await client.connection.subscribeEvents('entity_registry_updated', ({ action }) => {
      if (action === 'update') updates += 1;
    });
    const written = await bench.writes();
    const began = Date.now();
    await bench.createMany(namespace, 'HubEntity', count, settingsOf);
    const ready = await bench.untilReady(namespace, 'HubEntity');
    const writes = (await bench.writes()) - written;
    const settled = updates;
    await sleep(REST);
    const resting = await bench.writes();
    await sleep(REST);
    const restWrites = (await bench.writes()) - resting;
    const reverted: number[] = [];
    for (let round = 0; round < ROUNDS; round += 1) reverted.push(await revert(client, round));
    return {
      'automations, and settings of entities': count,
      'all Ready after the first was created, s': seconds(ready - began),
      'updates in the hub for each': settled / count,
      'writes to the cluster for each': Math.round((writes / count) * 10) / 10,
      'idle RSS before, MB': before,
      'idle RSS, MB': await residentMegabytes(bench.operator.process.pid),
      'writes to the cluster in a minute at rest': restWrites,
      'a change in the hub is reverted after, median, s': seconds(median(reverted)),
      'longest, s': seconds(Math.max(...reverted)),
    };
  } finally {
    await bench.stop();
  }
}

const hubRef = { name: 'hub' };

/** Creates automations and the area Kitchen, and waits until the operator has no work with them. */
async function createAutomations(bench: HubBench, namespace: string, count: number): Promise<void> {
  await bench.createMany(namespace, 'HubAutomation', count, (index) => ({
    hubRef,
    ...automationParts(index),
  }));
  await bench.untilReady(namespace, 'HubAutomation');
  await bench.createMany(namespace, 'HubArea', 1, () => ({ hubRef, name: 'Kitchen' }));
  await bench.untilReady(namespace, 'HubArea');
  // Minutes after the start of the hub each automation gets its verdict: a write that is no part of the figures.
  await bench.untilReferencesChecked(namespace, 'HubAutomation');
}

const settingsOf = (index: number): object => ({
  hubRef,
  select: { unique: { integration: 'template', domain: 'sensor', uniqueId: `t${index}` } },
  name: `Sensor of room ${index}`,
  icon: 'mdi:thermometer',
  areaName: 'Kitchen',
  aliases: [`Room ${index}`],
});

/** Changes an entity in the hub. Returns the milliseconds until the operator has taken the change back. */
async function revert(client: HubClient, round: number): Promise<number> {
  const { all } = await client.settings.entity.entries();
  const entity = [...all].find(({ uniqueId }) => uniqueId === `t${round}`)!;
  const changed = Date.now();
  await client.connection.command('config/entity_registry/update', {
    entity_id: entity.entityId,
    name: 'By a person',
  });
  for (;;) {
    const found = (await client.settings.entity.entries()).get(entity.id);
    if (found?.settings['name'] === `Sensor of room ${round}`) return Date.now() - changed;
    await sleep(20);
  }
}

function configuration(count: number): string {
  const sensors = Array.from(
    { length: count },
    (_, index) => `    - name: T ${index}\n      unique_id: t${index}\n      state: "1"`,
  );
  return `logger:\n  default: warning\ntemplate:\n  - sensor:\n${sensors.join('\n')}\n`;
}

const seconds = (milliseconds: number): number => Math.round(milliseconds / 10) / 100;

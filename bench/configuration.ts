import { setTimeout as sleep } from 'node:timers/promises';
import { stateOf } from '../operator/client/config-entities/states';
import { builtin } from '../operator/runtime/types';
import { HubBench } from './hub-bench';
import { median } from './median';
import { scrapeStarting, sum } from './operator-metrics';
import type { Figures } from './runtime';

const POLL = 25;
/** Milliseconds after which the operator is idle and its process for parsing has ended. */
const REST = 30_000;

/**
 * Measures changes of a HubConfiguration, one after another, from the request to the API server until the hub
 * has the new entity. None of the changes restarts the hub.
 */
export async function benchConfiguration(rounds: number): Promise<Figures> {
  const bench = await HubBench.start();
  try {
    const { namespace, client } = await bench.hub();
    await bench.untilReady(namespace, 'HubConfiguration');
    const effects: number[] = [];
    const readiness: number[] = [];
    for (let round = 0; round < rounds; round++) {
      const configuration = `logger:\n  default: warning\ninput_boolean:\n  round_${round}:\n`;
      const began = Date.now();
      await bench.patch(namespace, 'HubConfiguration', 'hub', { configuration });
      while ((await stateOf(client.rest, `input_boolean.round_${round}`)) !== 'off') await sleep(POLL);
      effects.push(Date.now() - began);
      readiness.push((await bench.untilReady(namespace, 'HubConfiguration')) - began);
    }
    return {
      changes: rounds,
      'change to effect in the hub, median, s': median(effects) / 1_000,
      'change to effect in the hub, longest, s': Math.max(...effects) / 1_000,
      'change to Ready, median, s': median(readiness) / 1_000,
      ...(await benchParts(bench, '1.2 MB', 1_200_000, rounds)),
      ...(await benchParts(bench, '3 MiB', 3_100_000, rounds)),
    };
  } finally {
    await bench.stop();
  }
}

const PACKAGES = 120;
const CONFIG_MAPS = 6;

/**
 * Measures a configuration in packages, each in a ConfigMap. One package changes repeatedly, then the memory
 * of the idle operator is read. The hub of the previous measurement is still there.
 */
async function benchParts(bench: HubBench, size: string, bytes: number, rounds: number): Promise<Figures> {
  const before = await memoryAtRest(bench);
  const configuration = 'homeassistant:\n  packages: !include_dir_named packages\n';
  const { namespace, client } = await bench.hub(configuration);
  const packages = Array.from({ length: PACKAGES }, (_, index) => packageOf(index, bytes / PACKAGES));
  const write = (map: number) => {
    const data = Object.fromEntries(
      packages.flatMap((text, index) => (index % CONFIG_MAPS === map ? [[`room_${index}.yaml`, text]] : [])),
    );
    return bench.apply(builtin.ConfigMap, namespace, `rooms-${map}`, { data });
  };
  const maps = Array.from({ length: CONFIG_MAPS }, (_, map) => map);
  for (const map of maps) await write(map);
  const filesFrom = maps.map((map) => ({ configMapRef: { name: `rooms-${map}` }, folder: 'packages' }));
  await bench.patch(namespace, 'HubConfiguration', 'hub', { filesFrom });
  await bench.untilReady(namespace, 'HubConfiguration');
  await bench.untilQuiet();
  const effects: number[] = [];
  const began = processorSeconds(await scrapeStarting(bench.operator));
  for (let round = 0; round < rounds; round++) {
    packages[7] = withHelper(packageOf(7, bytes / PACKAGES), round);
    const start = Date.now();
    await write(1);
    while ((await stateOf(client.rest, `input_boolean.round_${round}`)) !== 'off') await sleep(POLL);
    effects.push(Date.now() - start);
    await bench.untilQuiet();
  }
  const used = processorSeconds(await scrapeStarting(bench.operator)) - began;
  const figures = {
    [`${size}: change of one package to effect in the hub, median, s`]: median(effects) / 1_000,
    [`${size}: operator CPU of a change, s`]: Number((used / rounds).toFixed(2)),
    [`${size}: more memory of the operator at rest, MB`]: Math.round(
      ((await memoryAtRest(bench)) - before) / 1e6,
    ),
  };
  client.close();
  return figures;
}

/** Adds the helper of a round to a package. */
const withHelper = (text: string, round: number): string =>
  text.replace('input_boolean:\n', `input_boolean:\n  round_${round}: {name: Round ${round}}\n`);

const processorSeconds = (metrics: string): number => sum(metrics, 'process_cpu_seconds_total');

/** Returns the memory of the idle operator in bytes. */
async function memoryAtRest(bench: HubBench): Promise<number> {
  await sleep(REST);
  return sum(await scrapeStarting(bench.operator), 'process_resident_memory_bytes');
}

/** A package with automations like those of a real home. */
function packageOf(index: number, bytes: number): string {
  let text = `input_boolean:\n  room_${index}: {name: Room ${index}}\nautomation:\n`;
  for (let number = 0; text.length < bytes; number++)
    text +=
      `  - id: room_${index}_${number}\n    alias: When door ${number} of room ${index} opens\n    triggers:\n` +
      `      - trigger: state\n        entity_id: binary_sensor.door_${index}_${number}\n        to: "on"\n    actions:\n` +
      `      - action: light.turn_on\n        target: {entity_id: light.room_${index}}\n        data: {brightness_pct: ${number % 100}}\n`;
  return text;
}

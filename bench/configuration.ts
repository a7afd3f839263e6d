import { setTimeout as sleep } from 'node:timers/promises';
import { stateOf } from '../operator/client/config-entities/states';
import { HubBench } from './hub-bench';
import { median } from './median';
import type { Figures } from './runtime';

const POLL = 25;

/**
 * Changes of a HubConfiguration, one after another, each from the request to the API server until the hub has the new
 * entity. None of them restarts the hub.
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
    };
  } finally {
    await bench.stop();
  }
}

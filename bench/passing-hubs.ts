import { setTimeout as sleep } from 'node:timers/promises';
import type { ApiClient } from '../operator/runtime/api-client';
import { ExternalHubs } from './external-hubs';
import { HostileHub } from './hostile-peers';
import { progressOf } from './progress';

const NAMESPACE = 'passing';
const PLACES = ['rest', 'first-frame', 'later-frame'] as const;
const AT_ONCE = 10;
// Durations in milliseconds.
const ASK_INTERVAL = 1_000;
const LONGEST_FLOOD = 20_000;
const LONGEST_REMOVAL = 300_000;

const progress = progressOf('passing hubs');

/**
 * Creates `count` hostile hubs, ten at a time, and removes each after its floods, or after 20 s. Resolves
 * when all of the hubs are gone, with the total number of floods.
 * @throws Error a Hub is not removed
 */
export async function letHubsPass(cluster: ApiClient, count: number, floodsOfEach: number): Promise<number> {
  const hubs = new ExternalHubs(cluster, NAMESPACE);
  await hubs.createNamespace();
  let next = 0;
  let floods = 0;
  const one = async () => {
    for (let index = next++; index < count; index = next++) {
      const done = await pass(hubs, `passing-${index}`, PLACES[index % PLACES.length]!, floodsOfEach);
      floods += done;
      progress(`${index + 1} of ${count} hubs: ${floods} floods`);
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, one));
  return floods;
}

async function pass(hubs: ExternalHubs, name: string, place: string, floods: number): Promise<number> {
  const hub = await HostileHub.start(place, { withLargest: true });
  try {
    await hubs.add(name, hub.url);
    for (const end = Date.now() + LONGEST_FLOOD; hub.floods < floods && Date.now() < end;) {
      await sleep(ASK_INTERVAL);
      await hubs.askAgain(name);
    }
    await hubs.remove(name);
    for (const end = Date.now() + LONGEST_REMOVAL; await hubs.exists(name); await sleep(ASK_INTERVAL))
      if (Date.now() > end) throw new Error(`the Hub ${name} is not removed`);
    return hub.floods;
  } finally {
    hub.stop();
  }
}

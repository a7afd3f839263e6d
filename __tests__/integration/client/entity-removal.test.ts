import { request } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { dump, load } from 'js-yaml';
import { HubClient } from '../../../operator/client/hub-client';
import { callService } from '../../../operator/client/services';
import { systemClock } from '../../../operator/base/clock';
import { until } from '../../cluster';
import { startOnboardedHub, type OnboardedHub } from '../../cluster/onboarded-hub';
import { silentLog } from '../../cluster/silent-log';
import { randomNumbers } from '../../seed';

const OTHERS = 100;
const ROUNDS = Number(process.env['ROUNDS'] ?? 12);
/**
 * Each attempt interrupts the hub at another moment; on a busy machine few of them hit the one that leaves
 * something behind.
 */
const MOST_CUTS = 40;
const random = randomNumbers();
/** In milliseconds. */
const PATIENCE = 600_000;
const definition = (alias: string) => ({
  alias,
  triggers: [{ trigger: 'time', at: '20:00:00' }],
  conditions: [],
  actions: [{ delay: 1 }],
  mode: 'single',
});

let started: OnboardedHub;
let client: HubClient;

beforeAll(async () => {
  started = await startOnboardedHub();
  client = new HubClient({
    url: started.hub.url,
    token: started.token,
    clock: systemClock,
    log: silentLog,
  });
  const others = Array.from({ length: OTHERS }, (_, n) => ({
    id: `other_${n}`,
    ...definition(`Other ${n}`),
  }));
  await writeFile(path.join(started.hub.configDir, 'automations.yaml'), JSON.stringify(others));
  await callService(client.rest, 'automation', 'reload');
});

afterAll(async () => {
  client.close();
  await started.hub.dispose();
});

/** Sends a DELETE and closes the connection `delay` milliseconds later, like a client that is killed. */
async function cutDelete(id: string, delay: number): Promise<void> {
  const headers = { Authorization: `Bearer ${started.token}` };
  const url = `${started.hub.url}/api/config/automation/config/${id}`;
  const outgoing = request(url, { method: 'DELETE', headers });
  outgoing.on('error', () => undefined);
  outgoing.on('response', (response) => response.resume());
  outgoing.end();
  await sleep(delay);
  outgoing.destroy();
}

async function create(id: string): Promise<void> {
  await client.entities.write('automation', id, definition(id));
  await until('it is loaded', () => client.entityRegistry.find('automation', id));
}

/**
 * Produces the state after an interruption at the critical moment: the file is written, and the entity is
 * still registered.
 */
async function takeOutOfFile(id: string): Promise<void> {
  const file = path.join(started.hub.configDir, 'automations.yaml');
  const all = load(await readFile(file, 'utf8')) as { id: string }[];
  await writeFile(file, dump(all.filter((each) => each.id !== id)));
}

const isRegistered = async (id: string) =>
  (await client.entityRegistry.findNow('automation', id)) !== undefined;

async function leftovers(ids: readonly string[]): Promise<string[]> {
  const found: string[] = [];
  for (const id of ids)
    if ((await isRegistered(id)) || (await client.entities.read('automation', id))) found.push(id);
  return found;
}

const options = { shouldRemove: () => true, reload: true };

describe('EntityRemoval', () => {
  test(
    'leaves nothing of an automation whose DELETE was interrupted at any earlier moment',
    async () => {
      const ids: string[] = [];
      let leftByCut = 0;
      // Measures how long the hub takes for a DELETE now. The interruptions are spread over that time.
      await create('measured');
      const began = performance.now();
      await client.removal.remove('automation', 'measured', options);
      const usual = Math.max(60, performance.now() - began);
      while (ids.length < ROUNDS || (leftByCut === 0 && ids.length < MOST_CUTS)) {
        const id = `cut_${ids.length}`;
        ids.push(id);
        await create(id);
        // The first rounds use the times of an idle machine.
        await cutDelete(id, ids.length <= ROUNDS ? (5 * ids.length) % 60 : random() * usual);
        const isGone = await until('the file is written or the request lost', async () => {
          await sleep(300);
          return { read: await client.entities.read('automation', id) };
        });
        if (!isGone.read && (await isRegistered(id))) leftByCut += 1;
        await client.removal.remove('automation', id, options);
      }
      if (leftByCut === 0) {
        const id = 'as_if_cut';
        ids.push(id);
        await create(id);
        await takeOutOfFile(id);
        expect(await isRegistered(id)).toBe(true);
        expect(await client.entities.read('automation', id)).toBeUndefined();
        await client.removal.remove('automation', id, options);
      }
      expect(await leftovers(ids)).toEqual([]);
    },
    PATIENCE,
  );

  test(
    'leaves nothing of an automation that is deleted during a reload',
    async () => {
      const ids = Array.from({ length: ROUNDS }, (_, n) => `reloaded_${n}`);
      for (const id of ids) {
        await create(id);
        const reload = callService(client.rest, 'automation', 'reload');
        await client.removal.remove('automation', id, options);
        await reload;
      }
      expect(await leftovers(ids)).toEqual([]);
    },
    PATIENCE,
  );

  test(
    'leaves nothing of automations that are removed at the same time',
    async () => {
      const ids = Array.from({ length: ROUNDS }, (_, n) => `many_${n}`);
      for (const id of ids) await create(id);
      await Promise.all(ids.map((id) => client.removal.remove('automation', id, options)));
      expect(await leftovers(ids)).toEqual([]);
    },
    PATIENCE,
  );
});

import type { HubClient } from '../../../operator/client/hub-client';
import { freshNamespace, until } from '../../cluster';
import { automation, Home } from '../../cluster/home';
import { startTestOperator } from '../../cluster/operator';
import { startHub } from '../../cluster/onboarded-volume';
import { hubPid } from '../hub/hub-in-sandbox';

// One hub never waits for another.

const PENDING = Array.from({ length: 30 }, (_, index) => `pending-${index}`);
const EDITS = 5;

let home: Home;
let well: HubClient;

beforeAll(async () => {
  home = new Home(await freshNamespace('two-hubs'));
  await startTestOperator(home.namespace);
  await Promise.all(['frozen', 'well'].map((name) => startHub(home, name)));
  await home.apply(automation('well', 'lights'));
  await home.ready('hubautomation', 'lights');
  well = await home.client('well');
});

/** Milliseconds from the edit of an automation of the other hub until it is there: the median of a few. */
async function timeOfAnEdit(description: string): Promise<number> {
  const times: number[] = [];
  for (let edit = 0; edit < EDITS; edit++) {
    await home.ready('hubautomation', 'lights');
    await new Promise((resolve) => setTimeout(resolve, 2_500)); // one write in 2 s
    const wanted = `${description} ${edit}`;
    const began = Date.now();
    await home.change('hubautomation', 'lights', { description: wanted });
    await until('the edit is in the hub', async () => {
      const { description: present } = (await well.entities.read('automation', 'lights')) ?? {};
      return present === wanted;
    });
    times.push(Date.now() - began);
  }
  return times.sort((a, b) => a - b)[Math.floor(EDITS / 2)]!;
}

describe('automations of two hubs', () => {
  test('an edit is in its hub as soon as ever, while another hub is frozen with 30 waiting for it', async () => {
    const usual = await timeOfAnEdit('before');
    const pid = await hubPid(home, 'frozen');
    process.kill(pid, 'SIGSTOP');
    try {
      await home.apply(...PENDING.map((name) => automation('frozen', name)));
      const meanwhile = await timeOfAnEdit('meanwhile');
      expect(meanwhile).toBeLessThan(2 * usual + 5_000);
      const reasons = await Promise.all(PENDING.map((name) => home.condition('hubautomation', name)));
      expect(reasons.filter((ready) => ready?.status === 'True')).toEqual([]);
    } finally {
      process.kill(pid, 'SIGCONT');
    }
    for (const name of PENDING) await home.ready('hubautomation', name);
  });
});

import { freshNamespace, until } from '../cluster';
import { automation, Home } from '../cluster/home';
import { oneOfThree } from '../cluster/one-of-three';
import { startTestOperator } from '../cluster/operator';
import { applyExternalHub, StandInHub } from '../cluster/stand-in-hub';

// One hub that hangs beside nine others, with the operator as it ships. The hubs are lightweight stand-ins
// outside of the cluster, since ten real ones do not fit on one machine.

const HUBS = Array.from({ length: 10 }, (_, index) => `hub-${index}`);
const [hanging = '', ...others] = HUBS;
/** More automations than a partition of the queue has slots. */
const EDITED = Array.from({ length: 20 }, (_, index) => `${hanging}-${index}`);

const standIns = new Map<string, StandInHub>();
let home: Home;

/** Starts a stand-in and applies a Hub for it. */
async function startHub(name: string): Promise<void> {
  const standIn = await StandInHub.start();
  standIns.set(name, standIn);
  await applyExternalHub(home, name, standIn.url);
}

/**
 * Edits one automation of each of the nine other hubs. Returns the milliseconds until the last one is Ready
 * again.
 */
async function editOthers(description: string): Promise<number> {
  const started = Date.now();
  await Promise.all(others.map((name) => home.change('hubautomation', `${name}-0`, { description })));
  await Promise.all(others.map((name) => home.ready('hubautomation', `${name}-0`)));
  return Date.now() - started;
}

beforeAll(async () => {
  home = new Home(await freshNamespace('ten-hubs'));
  await startTestOperator(home.namespace, {
    settings: { ALLOW_LOCAL_HUBS: 'true', HUB_WRITE_TIMEOUT: '60' },
  });
  await Promise.all(HUBS.map(startHub));
  await home.apply(
    ...EDITED.map((name) => automation(hanging, name)),
    ...others.map((name) => automation(name, `${name}-0`)),
  );
  await Promise.all(
    [...EDITED, ...others.map((name) => `${name}-0`)].map((name) => home.ready('hubautomation', name)),
  );
});

describe('ten hubs', () => {
  test('a hub that hangs with 20 edited automations delays no edit of the nine others, and its Hub reports it', async () => {
    const usual = await editOthers('before');
    const standIn = standIns.get(hanging)!;
    await oneOfThree(
      async (attempt) => {
        standIn.signal('SIGSTOP');
        try {
          const description = `hangs ${attempt}`;
          await Promise.all(EDITED.map((name) => home.change('hubautomation', name, { description })));
          const took = await editOthers(`meanwhile ${attempt}`);
          await until('the Hub reports that its hub does not answer', async () => {
            const ready = await home.condition('hub', hanging);
            return ready?.status === 'False' && ready.reason === 'HubUnreachable';
          });
          return took;
        } finally {
          standIn.signal('SIGCONT');
          await Promise.all(EDITED.map((name) => home.ready('hubautomation', name)));
        }
      },
      // Each write to the hub that hangs takes 60 s, its time limit.
      (took) => took < 2 * usual + 30_000,
    );
  });
});

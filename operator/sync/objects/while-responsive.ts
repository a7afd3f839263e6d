import type { HubClient } from '../../client/hub-client';
import type { Clock } from '../../base/clock';
import { STOP_HUB_TIMEOUT } from '../../base/limits';

/** Resolves when `work` has ended, or when the hub does not answer a request in time. */
export async function runWhileResponsive(
  client: Pick<HubClient, 'rest'>,
  clock: Clock,
  work: Promise<unknown>,
): Promise<void> {
  const ended = new AbortController();
  const unresponsive = (async () => {
    while (!ended.signal.aborted) {
      const asked = client.rest.get('/manifest.json', { token: null, timeout: STOP_HUB_TIMEOUT });
      if (
        !(await asked.then(
          () => true,
          () => false,
        ))
      )
        return;
      await clock.sleep(STOP_HUB_TIMEOUT, ended.signal).catch(() => undefined); // the work has ended
    }
  })();
  await Promise.race([work, unresponsive]);
  ended.abort();
}

/** Milliseconds between two checks whether status has all results. */
const DRAIN_POLL_INTERVAL = 50;

/** Resolves when the results of all work in a hub are in status, or when the hub does not respond. */
export async function waitUntilRecorded(
  client: HubClient,
  clock: Clock,
  hasUnrecorded: () => boolean,
): Promise<void> {
  const recorded = async () => {
    while (hasUnrecorded()) await clock.sleep(DRAIN_POLL_INTERVAL);
  };
  await runWhileResponsive(client, clock, recorded());
}

import { URL_ANNOTATION } from '../../sandbox/node';
import { until } from '.';
import type { Home } from './home';
import { HubRecorder } from './hub-recorder';

const RECORDED = 'example.org/recorded-hub';

/** Settings of an operator that connects to its hubs through their recorders. */
export const throughRecorders = { HUB_URL_ANNOTATION: RECORDED };

/**
 * Starts a recorder through which the operator connects to a hub from now on.
 *
 * @param prepare called with the recorder before the operator connects to it
 */
export async function recorderOf(
  home: Home,
  name: string,
  prepare: (recorder: HubRecorder) => void = () => undefined,
): Promise<HubRecorder> {
  const url = await until(
    'the hub has an address',
    async () => (await home.get('service', name)).metadata.annotations?.[URL_ANNOTATION],
  );
  const recorder = await HubRecorder.start(url);
  prepare(recorder);
  await home.annotate('service', name, `${RECORDED}=${recorder.url}`);
  return recorder;
}

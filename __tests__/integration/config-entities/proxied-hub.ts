import { URL_ANNOTATION } from '../../../sandbox/node';
import { until } from '../../cluster';
import { configuration, DEFAULT_CONFIGURATION, type Home, hub } from '../../cluster/home';
import { restoreOnboarded } from '../../cluster/onboarded-volume';
import { HubProxy } from '../../cluster/hub-proxy';

const PROXIED = 'example.org/proxied-hub';

/** Settings of an operator that connects to its hubs through their proxies. */
export const throughProxies = { HUB_URL_ANNOTATION: PROXIED };

/**
 * Starts an onboarded hub, and the proxy through which the operator connects to it.
 * @param prepare called with the directory of the volume before the hub starts
 * @param text the configuration of the hub
 */
export async function proxiedHub(
  home: Home,
  name: string,
  prepare: (volume: string) => Promise<void> = () => Promise.resolve(),
  text = DEFAULT_CONFIGURATION,
): Promise<HubProxy> {
  await prepare(await restoreOnboarded(home, name));
  await home.apply(hub(name), configuration(name, text));
  const proxy = await proxyOf(home, name);
  await home.ready('hub', name);
  return proxy;
}

/** Returns a new proxy through which the operator connects to a hub from now on. */
export async function proxyOf(home: Home, name: string): Promise<HubProxy> {
  const url = await until(
    'the hub has an address',
    async () => (await home.get('service', name)).metadata.annotations?.[URL_ANNOTATION],
  );
  const proxy = await HubProxy.start(url);
  await home.annotate('service', name, `${PROXIED}=${proxy.url}`);
  return proxy;
}

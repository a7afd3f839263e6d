import { components } from './connection/answers';
import type { HubConnection } from './connection/connection';
import type { RestClient } from './connection/rest';

/**
 * Calls a service and waits until it has finished.
 *
 * @param data service data and target (`entity_id`, …)
 * @throws HubRejected 400: the service is unknown, or it rejected the data or the current state
 * @throws HubFailed the service failed; the error has the hub's message
 */
export async function callService(
  rest: RestClient,
  domain: string,
  service: string,
  data: object = {},
): Promise<void> {
  await rest.post(`/api/services/${domain}/${service}`, data, { timeout: rest.writeTimeout });
}

/**
 * The components and platforms that the hub has set up, such as `automation`, `scene`, `mqtt` and
 * `sensor.mqtt`.
 */
export function listComponents(rest: RestClient): Promise<readonly string[]> {
  return rest.get('/api/components', { answer: components });
}

/** The names of all services, by domain. */
export async function listServices(
  connection: HubConnection,
): Promise<ReadonlyMap<string, ReadonlySet<string>>> {
  const services = await connection.command('get_services');
  return new Map(Object.entries(services).map(([domain, names]) => [domain, new Set(Object.keys(names))]));
}

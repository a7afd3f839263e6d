import { WRITE_TIMEOUT, type RestClient } from './rest';

/**
 * Calls a service and waits until it has finished.
 *
 * @param data service data and target (`entity_id`, …)
 * @throws HubRejected 400 for an unknown service, or data or a state of things that it does not accept
 * @throws HubFailed the service failed, in the hub's words
 */
export async function callService(
  rest: RestClient,
  domain: string,
  service: string,
  data: object = {},
): Promise<void> {
  await rest.post(`/api/services/${domain}/${service}`, data, { timeout: WRITE_TIMEOUT });
}

/** The components and platforms that the hub has set up: `automation`, `scene`, `mqtt`, `sensor.mqtt`, … */
export function listComponents(rest: RestClient): Promise<readonly string[]> {
  return rest.get<readonly string[]>('/api/components');
}

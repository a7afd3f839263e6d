import type { HubConfiguration, HubSecrets } from '../../kinds';
import type { CustomResource } from '../../kinds/resource';
import { byAge } from '../../runtime/age';
import type { Services } from '../services';

/** The HubSecrets resource from which a hub gets its `secrets.yaml`. */
export function secretsOfHub({ cache }: Pick<Services, 'cache'>, namespace: string, hub: string) {
  return oldest(cache.ofHub<HubSecrets>('HubSecrets', namespace, hub));
}

/** The HubConfiguration of a hub. */
export function configurationOfHub({ cache }: Pick<Services, 'cache'>, namespace: string, hub: string) {
  return oldest(cache.ofHub<HubConfiguration>('HubConfiguration', namespace, hub));
}

/**
 * The oldest of several resources for one object, which owns the object (rules.md, "Ownership of objects in
 * the hub").
 */
function oldest<R extends CustomResource>(resources: Iterable<R>): R | undefined {
  return [...resources]
    .filter(({ metadata }) => !metadata.deletionTimestamp)
    .sort((a, b) => byAge(a.metadata, b.metadata))[0];
}

import type { Hub } from '../../../kinds';
import { objectNames } from '../../../kinds/object-names';
import { builtin } from '../../../runtime/types';
import type { Services } from '../../services';
import { isInParts } from '../generate/parts';
import type { ConfigurationRecords } from './record';
import { filesIn, findConfigMap, removeParts, writeParts } from './stored-files';

/**
 * Writes the parts of the content that the next start of the pod reads, when no content is being published.
 * Parts are written before the ConfigMap that names their digests. If that ConfigMap is never written, since
 * the HubConfiguration was deleted or became invalid in between, each start of the pod would wait for parts
 * that no longer exist.
 */
export async function keepParts(
  services: Pick<Services, 'applier' | 'cache'>,
  records: Pick<ConfigurationRecords, 'get'>,
  hub: Hub,
): Promise<void> {
  const { namespace, name } = hub.metadata;
  const { configuration, configurationParts } = objectNames(name);
  const isThere = (configMap: string) =>
    services.cache.get(builtin.ConfigMap.kind, namespace, configMap) !== undefined;
  const accepted = (await records.get(hub))?.files;
  const isAcceptedInParts = accepted !== undefined && isInParts(accepted);
  if (!isAcceptedInParts && !configurationParts().some(isThere)) return;
  const published = isThere(configuration)
    ? await findConfigMap(services, namespace, configuration)
    : undefined;
  const files = published ? filesIn(published) : accepted;
  if (files && isInParts(files)) await writeParts(services, hub, files);
  // The hub in a pod that is about to be replaced may still read the parts of the accepted content.
  else if (!isAcceptedInParts) await removeParts(services, hub);
}

import { isDeepStrictEqual } from 'node:util';
import type { HubConfiguration } from '../../../kinds';
import type { Services } from '../../services';
import { type ConfigurationSource, type Generated, generateConfiguration } from './generate';

/**
 * {@link generateConfiguration}, once for each source: a configuration of 512 KiB takes seconds to parse, and is reconciled
 * often while a hub loads it.
 */
export class GeneratedConfigurationCache {
  /** By the uid of the resource. */
  private readonly entries = new Map<
    string,
    {
      readonly of: HubConfiguration['metadata'];
      readonly source: ConfigurationSource;
      readonly generated: Generated;
    }
  >();

  constructor(private readonly services: Pick<Services, 'cache'>) {}

  generate({ metadata }: HubConfiguration, source: ConfigurationSource): Generated {
    const { uid } = metadata;
    const known = this.entries.get(uid);
    if (known && isDeepStrictEqual(known.source, source)) return known.generated;
    const generated = generateConfiguration(source);
    for (const [each, { of }] of this.entries)
      if (this.services.cache.get('HubConfiguration', of.namespace, of.name)?.metadata.uid !== each)
        this.entries.delete(each); // a deleted resource
    this.entries.set(uid, { of: metadata, source, generated });
    return generated;
  }
}

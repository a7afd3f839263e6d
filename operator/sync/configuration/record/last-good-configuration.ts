import type { Hub } from '../../../kinds';
import { operatorAnnotations } from '../../../kinds/annotations';
import { objectNames } from '../../../kinds/object-names';
import { builtin } from '../../../runtime/types';
import type { Services } from '../../services';
import type { Files } from '../generate/config-files';
import { type HubConfigMap, writeHubConfigMap } from './hub-config-map';
import { HASH_FILE } from './publish';

/** A configuration that the hub has run with in full. */
export interface LastGood {
  readonly files: Files;
  readonly hash: string;
}

/**
 * The ConfigMap `<hub>-configuration-last-good`, beside that of the accepted configuration: files that were accepted and
 * wait for a restart are not in it. The operator goes back to it when a start with such files ends in recovery mode.
 */
export class LastGoodConfigurations {
  constructor(private readonly services: Pick<Services, 'applier' | 'cache'>) {}

  /** Undefined: the hub has not run with any in full. */
  async get(hub: Hub): Promise<LastGood | undefined> {
    const { applier } = this.services;
    const { namespace, name } = hub.metadata;
    const present = await applier.find<HubConfigMap>(builtin.ConfigMap, namespace, nameOf(name));
    if (!present || !applier.isOurs(present, hub)) return undefined;
    const { [HASH_FILE]: hash, ...files } = present.data ?? {};
    return hash === undefined ? undefined : { files, hash };
  }

  /** An operator before this one may have kept none, or it was deleted. */
  async record(hub: Hub, { files, hash }: LastGood): Promise<void> {
    const { namespace, name } = hub.metadata;
    const present = this.services.cache.get(builtin.ConfigMap.kind, namespace, nameOf(name));
    if (present?.metadata.annotations?.[operatorAnnotations.contentHash] === hash) return;
    await writeHubConfigMap(this.services, hub, nameOf(name), { files, hash });
  }
}

const nameOf = (hub: string): string => objectNames(hub).lastGoodConfiguration;

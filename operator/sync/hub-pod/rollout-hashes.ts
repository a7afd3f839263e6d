import { createHash } from 'node:crypto';
import type { Hub, HubCommunityRepository, HubCommunityRepositoryStatus } from '../../kinds';
import { operatorAnnotations } from '../../kinds/annotations';
import { objectNames } from '../../kinds/object-names';
import { builtin } from '../../runtime/types';
import type { Services } from '../services';
import type { StatefulSet } from './owned-objects';

export interface PodHashes {
  /** The hash of the configuration, copied from the generated ConfigMap. */
  readonly config: string;
  /** The hash of the secrets, copied from the generated ConfigMap. Absent for a hub without secrets. */
  readonly secrets?: string | undefined;
  /** Hash of the community integrations on the volume. Absent if there are none. */
  readonly community?: string | undefined;
}

/**
 * The hashes of the configuration and secrets that need a restart. They are copied from the generated
 * ConfigMap to annotations of the pod template.
 *
 * @returns undefined when there is no configuration to start a pod with
 */
export async function rolloutHashes(
  { applier }: Pick<Services, 'applier'>,
  hub: Hub,
  present: StatefulSet | undefined,
): Promise<PodHashes | undefined> {
  const { namespace, name } = hub.metadata;
  const configMap = await applier.find(builtin.ConfigMap, namespace, objectNames(name).configuration);
  const annotations = configMap?.metadata.annotations;
  const config = annotations?.[operatorAnnotations.restartHash];
  if (config !== undefined) return { config, secrets: annotations?.[operatorAnnotations.restartSecretsHash] };
  // If a HubConfiguration was deleted while the hub runs, the workload keeps its last content.
  return present && hashesOf(present);
}

/** The hashes in the pod template of the StatefulSet. */
export function hashesOf({ spec }: StatefulSet): PodHashes | undefined {
  const annotations = spec.template.metadata?.annotations;
  const config = annotations?.[operatorAnnotations.configHash];
  return config === undefined
    ? undefined
    : { config, secrets: annotations?.[operatorAnnotations.secretsHash] };
}

/**
 * The hash of the community integrations on the hub's volume, as `sha256:<hex>`, from the status of their
 * resources. The hub loads an integration only when it starts, so a changed hash means a rolling restart. The
 * hash includes the claim and the id of the installation, since equal files may be installed again, or on
 * another volume, after the hub has started.
 *
 * @returns undefined when there are no community integrations
 */
export function communityHash({ cache }: Pick<Services, 'cache'>, { metadata }: Pick<Hub, 'metadata'>) {
  const installed = [
    ...cache.ofHub<HubCommunityRepository>('HubCommunityRepository', metadata.namespace, metadata.name),
  ]
    .filter(({ spec, status }) => spec.category === 'integration' && status?.digest !== undefined)
    .map(({ status }) => lineOf(status!));
  if (installed.length === 0) return undefined;
  // A resource and its successor have the same installation for a moment.
  const lines = [...new Set(installed)].sort();
  return `sha256:${createHash('sha256').update(lines.join('')).digest('hex')}`;
}

/** One installation for the hash. Status of an earlier version has no `installationID`. */
const lineOf = ({ target, digest, claimUID, installationID }: HubCommunityRepositoryStatus): string =>
  `${[target, digest, claimUID, installationID].filter((part) => part !== undefined).join(' ')}\n`;

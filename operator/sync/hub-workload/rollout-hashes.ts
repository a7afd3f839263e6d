import type { Hub } from '../../kinds/index';
import { operatorAnnotations } from '../../kinds/annotations';
import { objectNames } from '../../kinds/object-names';
import { builtin } from '../../runtime/types';
import type { Services } from '../services';
import type { StatefulSet } from './owned-objects';

export interface PodHashes {
  /** Copied from the generated ConfigMap. */
  readonly config: string;
  /** Likewise; absent for a hub without secrets. */
  readonly secrets?: string | undefined;
  /** Hash of the community integrations on the volume; absent: there are none. */
  readonly community?: string | undefined;
}

/**
 * The hashes of configuration and secrets that need a restart. They are copied from the generated ConfigMap to annotations
 * of the pod template. Undefined: there is no configuration to start a pod with.
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
  // A HubConfiguration was deleted while the hub runs: the workload keeps its last content.
  return present && hashesOf(present);
}

/** The hashes that the pod template carries now. */
export function hashesOf({ spec }: StatefulSet): PodHashes | undefined {
  const annotations = spec.template.metadata?.annotations;
  const config = annotations?.[operatorAnnotations.configHash];
  return config === undefined
    ? undefined
    : { config, secrets: annotations?.[operatorAnnotations.secretsHash] };
}

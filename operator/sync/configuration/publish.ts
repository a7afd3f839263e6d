import type { HubConfiguration } from '../../kinds';
import { operatorAnnotations } from '../../kinds/annotations';
import { objectNames } from '../../kinds/object-names';
import { builtin } from '../../runtime/types';
import type { Services } from '../services';
import type { Files } from './sections';

/** The content that the hub is to be restarted for; the Hub copies both to the pod template. */
export interface RestartHashes {
  readonly configuration: string;
  /** Absent for a hub without secrets. */
  readonly secrets?: string | undefined;
}

/**
 * Writes the generated files into the ConfigMap `<hub>-configuration`, together with the decision to restart: one write,
 * so that a crash cannot separate them (rules.md, "Rollout and debounce").
 *
 * @throws NameConflict, ObjectRejected
 */
export async function publishConfiguration(
  { applier }: Pick<Services, 'applier'>,
  resource: HubConfiguration,
  files: Files,
  restart: RestartHashes,
): Promise<void> {
  await applier.apply(
    builtin.ConfigMap,
    {
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: {
        name: objectNames(resource.spec.hubRef.name).configuration,
        namespace: resource.metadata.namespace,
        annotations: {
          [operatorAnnotations.restartHash]: restart.configuration,
          ...(restart.secrets && { [operatorAnnotations.restartSecretsHash]: restart.secrets }),
        },
      },
      data: files,
    },
    { owner: resource },
  );
}

/** The decision that the ConfigMap carries now; undefined: there is none yet. */
export function publishedRestart(
  { cache }: Pick<Services, 'cache'>,
  { metadata: { namespace }, spec: { hubRef } }: HubConfiguration,
): RestartHashes | undefined {
  const present = cache.get(builtin.ConfigMap.kind, namespace, objectNames(hubRef.name).configuration);
  const annotations = present?.metadata.annotations;
  const configuration = annotations?.[operatorAnnotations.restartHash];
  return configuration === undefined
    ? undefined
    : { configuration, secrets: annotations?.[operatorAnnotations.restartSecretsHash] };
}

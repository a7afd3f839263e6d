import type { KindDefinition } from '../kinds/kind';
import type { HubSecrets } from '../kinds';
import { objectNames } from '../kinds/object-names';
import type { CustomResource } from '../kinds/resource';
import type { Cache } from '../runtime/cache';
import { conditionOf } from '../runtime/conditions';
import type { Controller } from '../runtime/controller';
import { parseObjectKey } from '../runtime/object-key';
import type { SecretReader } from '../runtime/secrets';
import { SECRETS_FILE } from '../sync/secrets-yaml/generated-secrets';
import { secretsOfHub } from '../sync/secrets-yaml/hub-resources';
import { type ReadSecrets, readSecretsYaml } from '../sync/secrets-yaml/secrets-yaml';

/** The state of the cluster that the rules read. All of it is in memory, so that a rule sends no request. */
export interface ClusterState {
  /** The other resources that describe the same object in the hub, the oldest first. */
  othersWithIdentity(definition: KindDefinition, resource: CustomResource): readonly CustomResource[];
  /**
   * The keys of the HubSecrets of a hub; undefined if there is no HubSecrets, or if they are not known at the
   * moment.
   */
  secretsOf(namespace: string, hub: string): ReadSecrets | undefined;
}

interface StateSources {
  readonly cache: Cache;
  readonly controller: Pick<Controller, 'othersWithIdentity'>;
  readonly secrets: Pick<SecretReader, 'lastRead'>;
}

export function clusterState({ cache, controller, secrets }: StateSources): ClusterState {
  return {
    othersWithIdentity: (definition, resource) =>
      controller.othersWithIdentity(definition, resource).flatMap((key) => {
        const { kind, namespace, name } = parseObjectKey(key);
        return cache.get<CustomResource>(kind, namespace, name) ?? [];
      }),
    secretsOf: (namespace, hub) => {
      const source = secretsOfHub({ cache }, namespace, hub);
      if (!source || !isGenerated(source, secrets)) return undefined;
      const text = secrets.lastRead(namespace, objectNames(hub).secrets)?.get(SECRETS_FILE);
      return text === undefined ? undefined : readSecretsYaml(text);
    },
  };
}

/**
 * Whether the generated Secret has the keys that the HubSecrets requests now. A key that was just added to
 * the HubSecrets, together with its first use, is in no generated Secret yet and must not be reported as
 * missing.
 */
function isGenerated(source: HubSecrets, secrets: StateSources['secrets']): boolean {
  const { metadata, spec } = source;
  const ready = conditionOf(source, 'Ready');
  return (
    ready?.status === 'True' &&
    ready.observedGeneration === metadata.generation &&
    spec.secretRefs.every(({ name }) => secrets.lastRead(metadata.namespace, name) !== undefined)
  );
}

import { isDeepStrictEqual } from 'node:util';
import { type Hub, type HubConfiguration, secrets as secretsDefinition } from '../../../kinds';
import { operatorAnnotations } from '../../../kinds/annotations';
import { defaulted } from '../../../kinds/schema';
import { objectNames } from '../../../kinds/object-names';
import { builtin } from '../../../runtime/types';
import type { StatefulSet } from '../../hub-pod/owned-objects';
import { hashesOf } from '../../hub-pod/rollout-hashes';
import { secretsOfHub } from '../../secrets-yaml/hub-resources';
import type { ReadSecrets } from '../../secrets-yaml/secrets-yaml';
import type { Services } from '../../services';
import type { GeneratedConfiguration } from '../generate/generate';
import type { ContentHashes } from '../../hub-pod/content-hashes';
import { isInParts } from '../generate/parts';
import { type PublishedFiles, removeParts, writeFiles, writeParts } from './stored-files';

/** The present ConfigMap `<hub>-configuration`. */
export interface Published {
  /** Hash of the files in the ConfigMap. */
  readonly hash: string | undefined;
  readonly restart: ContentHashes;
}

/**
 * Writes the generated files into the ConfigMap `<hub>-configuration`, together with the hashes that decide
 * on a restart. A single write is used, so that a crash cannot separate them (rules.md, "Rollout and
 * debounce").
 *
 * @param restart the new decision; if undefined, the former one is kept
 * @throws NameConflict, ObjectRejected
 */
export async function publishConfiguration(
  services: Pick<Services, 'applier' | 'cache'>,
  resource: HubConfiguration,
  content: PublishedFiles,
  restart?: ContentHashes,
): Promise<void> {
  const decided = restart ??
    publishedConfiguration(services, resource)?.restart ??
    // The ConfigMap was deleted, perhaps together with a former HubConfiguration. The decision of the pod
    // template is kept, so that the pod is not replaced.
    restartOfTemplate(services, resource) ?? { configuration: content.marker.configuration };
  const annotations = {
    [operatorAnnotations.restartHash]: decided.configuration,
    ...(decided.secrets && { [operatorAnnotations.restartSecretsHash]: decided.secrets }),
  };
  const { name } = resource.spec.hubRef;
  const { configuration } = objectNames(name);
  const options = { owner: resource, takesAbandoned: true };
  if (isInParts(content.files)) {
    const hub = services.cache.get<Hub>('Hub', resource.metadata.namespace, name);
    // The parts are owned by the Hub, since its pod still needs them when the HubConfiguration is deleted.
    // Without a Hub there is no pod to read them.
    if (!hub) return;
    await writeParts(services, hub, content.files);
  }
  await writeFiles(services, options, configuration, content, { annotations });
}

/** Writes files that the hub has loaded, without a restart, and deletes the parts of former content. */
export async function publishLoaded(
  services: Pick<Services, 'applier' | 'cache'>,
  resource: HubConfiguration,
  hub: Hub,
  content: PublishedFiles,
): Promise<void> {
  await publishWithoutRestart(services, resource, content);
  if (!isInParts(content.files)) await removeParts(services, hub);
}

/**
 * The published configuration according to its ConfigMap.
 *
 * @returns undefined when there is none yet
 */
export function publishedConfiguration(
  { cache }: Pick<Services, 'cache'>,
  { metadata: { namespace }, spec: { hubRef } }: HubConfiguration,
): Published | undefined {
  const present = cache.get(builtin.ConfigMap.kind, namespace, objectNames(hubRef.name).configuration);
  const annotations = present?.metadata.annotations;
  const configuration = annotations?.[operatorAnnotations.restartHash];
  if (configuration === undefined) return undefined;
  const secrets = annotations?.[operatorAnnotations.restartSecretsHash];
  return { hash: annotations?.[operatorAnnotations.contentHash], restart: { configuration, secrets } };
}

/**
 * Writes files that need no restart. A restart that is published but has not begun is withdrawn, for example
 * if a change was undone within the debounce: the decision becomes that of the pod template.
 *
 * @throws NameConflict, ObjectRejected
 */
export async function publishWithoutRestart(
  services: Pick<Services, 'applier' | 'cache'>,
  resource: HubConfiguration,
  content: PublishedFiles,
): Promise<void> {
  const published = publishedConfiguration(services, resource)?.restart;
  const isDecided = published && !isDeepStrictEqual(published, restartOfTemplate(services, resource));
  // The cached StatefulSet may be older than the rollout. Withdrawing a restart that has begun would cause
  // another one.
  const current = isDecided ? await restartOfWorkload(services, resource) : undefined;
  const withdrawn = isDeepStrictEqual(published, current) ? undefined : current;
  await publishConfiguration(services, resource, content, withdrawn);
  if (!withdrawn) return;
  // Before this publication, the Hub may have copied the former decision. Then that decision is published
  // again, since a different one would cause another rollout.
  const begun = await restartOfWorkload(services, resource);
  if (begun && !isDeepStrictEqual(begun, withdrawn))
    await publishConfiguration(services, resource, content, begun);
}

/** Like {@link restartOfTemplate}, but read from the API server. */
async function restartOfWorkload(
  { applier }: Pick<Services, 'applier'>,
  { metadata: { namespace }, spec: { hubRef } }: HubConfiguration,
): Promise<ContentHashes | undefined> {
  const { workload } = objectNames(hubRef.name);
  return restartIn(await applier.find<StatefulSet>(builtin.StatefulSet, namespace, workload));
}

/**
 * The decision in the pod template.
 *
 * @returns undefined when there is no StatefulSet
 */
export function restartOfTemplate(
  { cache }: Pick<Services, 'cache'>,
  { metadata: { namespace }, spec: { hubRef } }: HubConfiguration,
): ContentHashes | undefined {
  const { workload } = objectNames(hubRef.name);
  return restartIn(cache.get<StatefulSet>(builtin.StatefulSet.kind, namespace, workload));
}

function restartIn(set: StatefulSet | undefined): ContentHashes | undefined {
  const hashes = set && hashesOf(set);
  return hashes && { configuration: hashes.config, secrets: hashes.secrets };
}

/**
 * The decision to restart the hub for every difference. With `autoRestart: false`, changed secrets are left
 * for the next restart.
 */
export function restartForAll(
  services: Pick<Services, 'cache'>,
  resource: HubConfiguration,
  generated: GeneratedConfiguration,
  secrets: ReadSecrets | undefined,
): ContentHashes {
  const used = [...generated.sections.values()].some((section) => Object.keys(section.secrets).length > 0);
  const present = publishedConfiguration(services, resource)?.restart.secrets;
  const desired = used || present !== undefined ? secrets?.hash : undefined;
  const held = present !== undefined && !autoRestartOf(services, resource);
  return { configuration: generated.hash, secrets: held ? present : desired };
}

/** Value of `spec.autoRestart` of the hub's HubSecrets. */
export function autoRestartOf(
  services: Pick<Services, 'cache'>,
  { metadata: { namespace }, spec: { hubRef } }: HubConfiguration,
): boolean {
  const resource = secretsOfHub(services, namespace, hubRef.name);
  return !resource || defaulted(secretsDefinition.spec, resource.spec).autoRestart;
}

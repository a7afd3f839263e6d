import { runTwice } from '../../../base/bounded-task';
import { isLower } from '../../../base/hub-version';
import { DEPENDENCY_REQUEUE } from '../../../base/limits';
import type { HubClient } from '../../../client/hub-client';
import { blueprint as definition, type Hub, type HubBlueprint, type HubBlueprintSpec } from '../../../kinds';
import { defaulted } from '../../../kinds/schema';
import { type Outcome, stalled, waiting } from '../../../runtime/outcome';
import type { ReconcileContext } from '../../../runtime/sync-module';
import { hubVolume } from '../../hub-pod/hub-volume';
import { type ObjectReconcile, untilLoaded } from '../../objects/object-sync';
import type { Services } from '../../services';
import { readConfigMap } from '../read-given-files';
import type { BlueprintContext, CachedBlueprint } from './contexts';
import { blueprintTask } from './read-blueprint';
import { blueprintHash, type GivenText, givenText, tooCostly } from './text-of';

/** The inputs of one reconcile of one resource. */
export interface Work extends ObjectReconcile<HubBlueprint> {
  readonly spec: HubBlueprintSpec;
  readonly context: ReconcileContext;
  readonly hub: BlueprintContext;
  readonly cached: CachedBlueprint;
  readonly given: GivenText & { readonly type: 'text' };
  /** True if the text contains `source_url`. */
  readonly hasSource: boolean;
  /** Hash of the text and of `spec.sourceUrl`. */
  readonly hash: string;
}

/**
 * Collects the inputs of a reconcile, or returns the outcome for an invalid spec or text, or a missing
 * prerequisite.
 */
export async function beginWork(
  services: Pick<Services, 'applier' | 'cache' | 'texts'>,
  hub: BlueprintContext,
  resource: HubBlueprint,
  client: HubClient,
  context: ReconcileContext,
): Promise<Work | Outcome> {
  const spec = defaulted(definition.spec, resource.spec);
  const { namespace, uid } = resource.metadata;
  const configMap = spec.configMapRef && (await readConfigMap(services, namespace, spec.configMapRef.name));
  const given = givenText(spec, configMap);
  if (given.type === 'missing')
    return waiting('ConfigMapNotFound', `${given.message} What the hub has stays.`, DEPENDENCY_REQUEUE);
  if (given.type === 'invalid') return stalled('InvalidSpec', given.message);
  const { text, field } = given;
  const turn = `${namespace}/${spec.hubRef.name}`;
  const read = await runTwice(services.texts, blueprintTask, { text, domain: spec.domain, field }, turn);
  if (read.type === 'ended') return stalled('InvalidSpec', tooCostly(field, read));
  if ('problem' in read.output) return stalled('InvalidSpec', read.output.problem);
  const { minVersion, hasSource } = read.output;
  const version = services.cache.get<Hub>('Hub', namespace, spec.hubRef.name)?.status?.version;
  if (minVersion !== undefined && version !== undefined && isLower(version, minVersion))
    return stalled('InvalidSpec', forNewerHub(field, minVersion, version));
  await client.events.watch();
  const notLoaded = await untilLoaded(client, spec.domain);
  if (notLoaded) return notLoaded;
  const cached = hub.cached.get(uid);
  if (context.forced) {
    client.blueprints.invalidate(spec.domain);
    cached.trial = undefined;
    cached.rejection = undefined;
    cached.read = undefined;
    if (cached.failed) cached.failed = { ...cached.failed, at: -Infinity };
  }
  const volume = hubVolume(services, namespace, spec.hubRef.name);
  const hash = blueprintHash(text, spec.sourceUrl);
  return { resource, client, context, spec, hub, cached, given, hasSource, hash, volume };
}

const forNewerHub = (field: string, needed: string, version: string): string =>
  `${field}: homeassistant.min_version is ${needed}, and the hub runs ${version}: update the hub, or give a blueprint that is for it.`;

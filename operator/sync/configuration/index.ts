import { HubError } from '../../client/connection/errors';
import {
  configuration as definition,
  type Hub,
  type HubConfiguration,
  type HubConfigurationSpec,
} from '../../kinds';
import type { ReadyReason } from '../../kinds/reasons';
import { overriddenDatabase } from '../../kinds/recorder-sources';
import { defaulted } from '../../kinds/schema';
import { DEPENDENCY_REQUEUE } from '../../base/limits';
import type { EventSpec } from '../../runtime/event-spec';
import { type Outcome, ready, stalled, waiting } from '../../runtime/outcome';
import type { ReconcileContext, SyncModule } from '../../runtime/sync-module';
import { dryRunOutcome } from '../dry-run';
import type { HubClients } from '../hub-connection/hub-clients';
import { hubErrorOutcome } from '../hub-connection/hub-errors';
import { readsDelivery } from '../hub-pod/delivery';
import { readGeneratedSecrets } from '../secrets-yaml/generated-secrets';
import type { PodRestarts } from '../hub-pod/pod-restarts';
import { configurationOfHub, secretsOfHub } from '../secrets-yaml/hub-resources';
import { recorderUrl } from '../secrets-yaml/recorder-url';
import type { Services } from '../services';
import { type Content, contentOf, type GeneratedConfiguration } from './generate/generate';
import { LoadJobs } from './load/load-jobs';
import { readGivenFiles } from './read-given-files';
import { ConfigurationReconciler } from './reconcile';
import { keepParts } from './record/keep-parts';
import { ConfigurationRecords } from './record/record';
import { missingSecrets } from './generate/secret-uses';
import { autoRestartOf, publishConfiguration, restartForAll } from './record/publish';
import { ensureRecorderSecret } from './record/recorder-secret';
import { textsOfHub } from './generate/texts';
import { GeneratedConfigurationCache } from './generate/generated-configuration-cache';

/**
 * Generates the hub's configuration into a ConfigMap, which needs no running hub, and makes a running hub
 * load it.
 */
export function configurationModule(services: Services, hubs: HubClients, restarts: PodRestarts) {
  const records = new ConfigurationRecords(services);
  const loads = new LoadJobs(services, records);
  const reconciler = new ConfigurationReconciler(services, hubs, restarts, records, loads);
  const generation = new GeneratedConfigurationCache(services);

  async function deliver(resource: HubConfiguration, context: ReconcileContext): Promise<Outcome> {
    const spec = defaulted(definition.spec, resource.spec);
    const { namespace } = resource.metadata;
    const { name } = spec.hubRef;
    const { forced } = context;
    const strategy = spec.reloadStrategy;
    const prepared = await prepare(services, generation, resource, spec);
    const reached = await hubs.reach(namespace, name);
    try {
      if ('outcome' in prepared) {
        const hub = hubs.find(namespace, name);
        if (hub) await keepParts(services, records, hub);
        if ('outcome' in reached) return prepared.outcome;
        const policy = { strategy, forced, mayRestart: true };
        return await reconciler.syncHttp(resource, prepared.outcome, reached, policy);
      }
      const { content, events } = prepared;
      const policy = { strategy, autoRestart: autoRestartOf(services, resource) };
      const access =
        'outcome' in reached ? { hub: hubs.find(namespace, name), unusable: reached.outcome } : reached;
      const outcome = await reconciler.sync({ resource, content, policy }, access, forced);
      return { ...outcome, events: [...(outcome.events ?? []), ...events] };
    } catch (error) {
      if ('outcome' in prepared) {
        if (error instanceof HubError) return prepared.outcome;
        throw error;
      }
      const status = { configHash: prepared.content.marker.configuration };
      return hubErrorOutcome(error, 'object', { status, events: prepared.events });
    }
  }

  const module: SyncModule<HubConfiguration> = {
    sync: (resource, context) =>
      context.dryRun
        ? dryRunOutcome(services, (applier) => publishOnly({ ...services, applier }, generation, resource))
        : deliver(resource, context),
  };
  return {
    module,
    /**
     * Reports whether a configuration is being loaded into the hub. A restart waits until the load has ended.
     */
    isLoading: (hub: Hub) => loads.isLoading(hub),
    /**
     * Keeps the ConfigMaps with the parts of the last content, for a hub whose HubConfiguration was deleted:
     * its pod may start at any time.
     */
    keepPartsOfLast: async (hub: Hub) => {
      const { namespace, name } = hub.metadata;
      if (!configurationOfHub(services, namespace, name)) await keepParts(services, records, hub);
    },
    /** Aborts all loads. */
    close: () => loads.close(),
  };
}

type PrepareServices = Pick<Services, 'applier' | 'cache' | 'secrets' | 'settings' | 'requeue' | 'texts'>;

type Prepared =
  | { readonly content: Content; readonly events: readonly EventSpec[] }
  /** The problem that prevents the generation. The hub keeps its last configuration. */
  | { readonly outcome: Outcome };

/** Generates the files, and the Secret with the database URL that they may refer to. */
async function prepare(
  services: PrepareServices,
  generation: GeneratedConfigurationCache,
  resource: HubConfiguration,
  spec = defaulted(definition.spec, resource.spec),
): Promise<Prepared> {
  const { namespace } = resource.metadata;
  const { name } = spec.hubRef;
  const url = await recorderUrl(services, resource);
  if (url?.type === 'missing') {
    const { reason, message } = url;
    return { outcome: reason === 'SecretRefused' ? stalled(reason, kept(message)) : wait(reason, message) };
  }
  const before = await readGeneratedSecrets(services, namespace, name);
  const hasSecrets = before !== undefined || url !== undefined;
  const given = await readGivenFiles(services, resource, spec);
  if (given.type === 'missing') return { outcome: wait('ConfigMapNotFound', given.message) };
  if (given.type === 'invalid') return { outcome: invalid(given.message) };
  const { configuration, recorder } = spec;
  const generated = await generation.generate(resource, {
    configuration,
    ...(recorder && { recorder }),
    files: given.files,
    origins: given.origins,
    hasSecrets,
    readsDelivery: readsDelivery(services, namespace, name),
  });
  if (generated.type === 'waiting')
    return { outcome: waiting('ConfigurationGenerated', kept(generated.message), generated.after) };
  if (generated.type === 'invalid') return { outcome: invalid(generated.message) };
  const waits = await ensureRecorderSecret(services, resource, url?.url);
  if (waits !== undefined) return { outcome: wait('KeyNotFound', waits) };
  const secrets = await readGeneratedSecrets(services, namespace, name);
  // The Secret was created while the files were generated, so the marker does not have its hash yet.
  if (secrets !== undefined && !hasSecrets) return prepare(services, generation, resource, spec);
  // The Secret outlives its HubSecrets, for the configuration that is in use. New content may only use
  // secrets of an existing HubSecrets.
  const inUse = secretsOfHub(services, namespace, name) && secrets;
  const missing = missingSecrets(generated.secrets, inUse, name);
  if (missing !== undefined) return { outcome: wait('KeyNotFound', missing) };
  const restart = restartForAll(services, resource, generated, secrets);
  return {
    content: contentOf(generated, secrets, restart, textsOfHub(services, namespace, name)),
    events: warningsOf(resource, spec, generated),
  };
}

const kept = (problem: string): string => `${problem} The last configuration stays.`;

const invalid = (problem: string): Outcome =>
  stalled('InvalidConfiguration', `${problem} The last good configuration stays.`);

const wait = (reason: ReadyReason, problem: string): Outcome =>
  waiting(reason, kept(problem), DEPENDENCY_REQUEUE);

/** Writes the objects in the cluster only, for a dry run. The hub is not contacted. */
async function publishOnly(
  services: PrepareServices,
  generation: GeneratedConfigurationCache,
  resource: HubConfiguration,
): Promise<Outcome> {
  const prepared = await prepare(services, generation, resource);
  if ('outcome' in prepared) return prepared.outcome;
  await publishConfiguration(services, resource, prepared.content);
  return ready('ConfigurationGenerated', 'The configuration is generated.');
}

/**
 * Warnings about parts of the spec that have no effect, and about parts that lock the operator out. They are
 * reported once per version of the spec.
 */
function warningsOf(
  { metadata, status }: HubConfiguration,
  { recorder }: HubConfigurationSpec,
  { notices, lockouts }: Pick<GeneratedConfiguration, 'notices' | 'lockouts'>,
): EventSpec[] {
  if (status?.observedGeneration === metadata.generation) return [];
  const overridden = overriddenDatabase(recorder);
  const sentences = overridden === undefined ? notices : [overridden, ...notices];
  return [
    ...sentences.map((message) => ({ type: 'Warning', reason: 'RecorderOverridden', message }) as const),
    ...lockouts.map((message) => ({ type: 'Warning', reason: 'PasswordLoginMissing', message }) as const),
  ];
}

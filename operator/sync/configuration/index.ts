import { HubError } from '../../client/connection/errors';
import { configuration as definition, type Hub, type HubConfiguration } from '../../kinds';
import { defaulted } from '../../kinds/schema';
import { type Outcome, ready } from '../../runtime/outcome';
import type { ReconcileContext, SyncModule } from '../../runtime/sync-module';
import { dryRunOutcome } from '../dry-run';
import type { HubClients, Reached } from '../hub-connection/hub-clients';
import { hubErrorOutcome } from '../hub-connection/hub-errors';
import type { PodRestarts } from '../hub-pod/pod-restarts';
import { configurationOfHub } from '../secrets-yaml/hub-resources';
import type { Services } from '../services';
import { GeneratedConfigurationCache } from './generate/generated-configuration-cache';
import type { HttpPolicy } from './load/http-settings';
import { LoadJobs } from './load/load-jobs';
import { prepare, type PrepareServices } from './prepare';
import { ConfigurationReconciler } from './reconcile';
import { keepParts } from './record/keep-parts';
import { autoRestartOf, publishConfiguration } from './record/publish';
import { ConfigurationRecords } from './record/record';

/**
 * Generates the hub's configuration into a ConfigMap, which needs no running hub, and makes a running hub
 * load it.
 */
export function configurationModule(services: Services, hubs: HubClients, restarts: PodRestarts) {
  const records = new ConfigurationRecords(services);
  const loads = new LoadJobs(services, records);
  const reconciler = new ConfigurationReconciler(services, hubs, restarts, records, loads);
  const generation = new GeneratedConfigurationCache(services);
  const delivery = new Delivery(services, hubs, records, reconciler, generation);
  const module: SyncModule<HubConfiguration> = {
    sync: (resource, context) =>
      context.dryRun
        ? dryRunOutcome(services, (applier) => publishOnly({ ...services, applier }, generation, resource))
        : delivery.deliver(resource, context),
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

class Delivery {
  constructor(
    private readonly services: Services,
    private readonly hubs: HubClients,
    private readonly records: ConfigurationRecords,
    private readonly reconciler: ConfigurationReconciler,
    private readonly generation: GeneratedConfigurationCache,
  ) {}

  async deliver(resource: HubConfiguration, { forced }: ReconcileContext): Promise<Outcome> {
    const spec = defaulted(definition.spec, resource.spec);
    const { name } = spec.hubRef;
    const strategy = spec.reloadStrategy;
    const prepared = await prepare(this.services, this.generation, resource, spec);
    const reached = await this.hubs.reach(resource.metadata.namespace, name);
    if ('outcome' in prepared)
      return this.keepLast(resource, prepared.outcome, reached, { strategy, forced });
    const { content, events } = prepared;
    try {
      const policy = { strategy, autoRestart: autoRestartOf(this.services, resource) };
      const hub = this.hubs.find(resource.metadata.namespace, name);
      const access = 'outcome' in reached ? { hub, unusable: reached.outcome } : reached;
      const outcome = await this.reconciler.sync({ resource, content, policy }, access, forced);
      return { ...outcome, events: [...(outcome.events ?? []), ...events] };
    } catch (error) {
      const status = { configHash: content.marker.configuration };
      return hubErrorOutcome(error, 'object', { status, events });
    }
  }

  /** Keeps the last content in the hub while there is no new one. Its section `http:` is applied further. */
  private async keepLast(
    resource: HubConfiguration,
    problem: Outcome,
    reached: Reached,
    policy: Pick<HttpPolicy, 'strategy' | 'forced'>,
  ): Promise<Outcome> {
    try {
      const hub = this.hubs.find(resource.metadata.namespace, resource.spec.hubRef.name);
      if (hub) await keepParts(this.services, this.records, hub);
      if ('outcome' in reached) return problem;
      return await this.reconciler.syncHttp(resource, problem, reached, policy);
    } catch (error) {
      if (error instanceof HubError) return problem;
      throw error;
    }
  }
}

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

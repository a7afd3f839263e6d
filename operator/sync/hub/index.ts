import { hub as definition, type Hub } from '../../kinds';
import { defaulted } from '../../kinds/schema';
import { type Outcome, ready, stalled, waiting } from '../../runtime/outcome';
import type { SyncModule } from '../../runtime/sync-module';
import { comparedOutcome, dryRunApplier } from '../dry-run';
import type { HubClients } from '../hub-connection/hub-clients';
import type { Services } from '../services';
import { Connector } from './access/connect';
import { externalStep } from './access/external';
import { awaitChildren } from './await-children';
import { ensureBackupSchedule } from './backup';
import { checkClusterBans } from './health/cluster-bans';
import {
  continueOnFailure,
  type HubContext,
  Steps,
  type WithAddress,
  type WithClaim,
  type WorkloadStep,
} from './steps';
import { addExposure } from './exposure/index';
import { OtherOperators } from './other-operators';
import { readyOutcome } from './ready';
import { addReport, type ReportOf } from './reports';
import { checkTrustedProxies } from './exposure/trusted-proxies';
import type { PodRestarts } from '../hub-pod/pod-restarts';
import { releaseRetained } from '../hub-pod/retain';
import { Rollouts } from './workload/rollouts';
import { checkRunningVersion } from './workload/running-version';
import { ensureStatefulSet } from './workload/statefulset';
import { ensureStorage } from './workload/storage';

/** The functions of HubConfiguration's sync module that the reconcile of a Hub needs. */
interface ConfigurationOfHub {
  /** Reports whether a configuration is being loaded into the hub. */
  readonly isLoading: (hub: Hub) => boolean;
  /**
   * Keeps the ConfigMaps with the parts of the last content, for a hub whose HubConfiguration was deleted:
   * its pod may start at any time.
   */
  readonly keepPartsOfLast: (hub: Hub) => Promise<void>;
}

/**
 * Reconciles a Hub: runs the steps below, in their order (rules.md, "Order of a Hub's reconciliation").
 *
 * @param restarts restarts of pods without a change of their template
 * @param findLeftBehind reports objects in the hub that no resource describes
 * @param deliveryOf reports how automations, scenes and scripts are delivered to the hub
 */
export function hubModule(
  services: Services,
  hubs: HubClients,
  configuration: ConfigurationOfHub,
  restarts: PodRestarts,
  findLeftBehind: ReportOf,
  deliveryOf: ReportOf,
): SyncModule<Hub> {
  const connector = new Connector(services, hubs, restarts);
  const otherOperators = new OtherOperators(services);
  const rollouts = new Rollouts(services, restarts, configuration.isLoading);
  const backup = ensureBackupSchedule(services);
  const leftBehind = addReport('left behind', findLeftBehind);
  const externalSteps = Steps.none().add(externalStep(services, hubs)).add(backup).add(leftBehind);
  const waitForChildren = awaitChildren(services);
  const steps = workloadSteps(services, rollouts, configuration)
    .add({ name: 'bootstrap', run: (context) => connector.connect(context) })
    .add(checkRunningVersion(services))
    .add(checkTrustedProxies)
    .add(checkClusterBans(services))
    .add(backup)
    .add(addReport('delivery', deliveryOf))
    .add(leftBehind);

  return {
    async sync(hub, reconcile) {
      const spec = defaulted(definition.spec, hub.spec);
      const context = { hub, spec, reconcile, status: {}, conditions: {}, events: [], notices: [] };
      if (reconcile.dryRun) return dryRun(services, context);
      const others = otherOperators.report(context);
      const outcome = await (spec.external ? externalSteps : steps).run(context, readyOutcome);
      return others === undefined ? outcome : { ...outcome, message: `${outcome.message} ${others}` };
    },
    lostWithoutRemoval: 'the volume, the credentials and the delivered definitions that have to outlive it',
    async remove(hub) {
      const released = await releaseRetained(services, hub);
      return waitForChildren(hub) ?? released;
    },
  };
}

/**
 * Keeps the configuration that the next start of the pod reads. It runs before every step that may start a
 * pod.
 *
 * @param configuration undefined in a dry-run
 */
const keepConfiguration = (configuration: ConfigurationOfHub | undefined): WorkloadStep => ({
  name: 'configuration',
  async run({ hub }) {
    await configuration?.keepPartsOfLast(hub);
    return {};
  },
  present: () => ({}),
});

/** Ensures the objects in the cluster that run the hub and make it reachable. */
function workloadSteps(
  services: Services,
  rollouts: Rollouts | undefined,
  configuration?: ConfigurationOfHub,
): Steps<HubContext & WithClaim & WithAddress> {
  const steps = Steps.none()
    .add(continueOnFailure(services, keepConfiguration(configuration)))
    .add(continueOnFailure(services, ensureStorage(services)))
    .add(continueOnFailure(services, ensureStatefulSet(services, rollouts)));
  return addExposure(steps, services);
}

/**
 * Reconciles a Hub with the annotation `dry-run`: the API server computes each change without storing it, and
 * the hub is not contacted.
 */
async function dryRun(services: Services, context: HubContext): Promise<Outcome> {
  if (context.spec.external)
    return Steps.none().run(context, () =>
      ready('DryRun', 'The hub runs elsewhere and is not contacted: nothing was compared.'),
    );
  const applier = dryRunApplier(services);
  const outcome = await workloadSteps({ ...services, applier }, undefined).run(context, () =>
    comparedOutcome(applier, 'Nothing in the cluster would change. The hub is not contacted.'),
  );
  // The other parts of the outcome are dropped. Status, conditions and events describe objects that exist
  // only in the responses to the dry run. A requeue would wait for changes that a dry run does not make, such
  // as the end of a debounce.
  const { type, reason, message } = outcome;
  if (type === 'Waiting') return waiting(reason, message, outcome.after);
  return type === 'Ready' ? ready(reason, message) : stalled(reason, message);
}

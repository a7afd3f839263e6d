import { hub as definition, type Hub, type HubSpec } from '../../kinds';
import { API_GROUP } from '../../kinds/group';
import { defaulted } from '../../kinds/schema';
import { type Outcome, ready, stalled } from '../../runtime/outcome';
import { DryRunApplier } from '../../runtime/dry-run-applier';
import type { SyncModule } from '../../runtime/sync-module';
import type { HubClients } from '../hub-clients';
import type { Services } from '../services';
import { continueOnFailure } from './continue-on-failure';
import { backupStep } from './backup';
import { Connector } from './access/connect';
import { exposureSteps } from './exposure/index';
import { externalStep } from './access/external';
import { serviceStep } from './exposure/service';
import { storageStep } from './workload/storage';
import { trustedProxiesStep } from './exposure/trusted-proxies';
import { type HubStep, type HubContext, runSteps } from './steps';
import { workloadStep } from './workload/statefulset';

/** The hub instance. Each pass runs its steps in the order of the specification ("Hub reconciliation order"). */
export function hubModule(services: Services, hubs: HubClients): SyncModule<Hub> {
  const contact = new Connector(services, hubs);
  const backup = backupStep(services);
  const externalSteps: readonly HubStep[] = [externalStep(services, hubs), backup];
  const steps: readonly HubStep[] = [
    ...clusterSteps(services),
    { name: 'bootstrap', run: (context) => contact.connect(context) },
    trustedProxiesStep,
    backup,
  ];

  return {
    sync(hub, reconcile) {
      const spec = defaulted(definition.spec, hub.spec);
      const problem = unsupportedDelivery(spec);
      const context = { hub, spec, reconcile, status: {}, conditions: {}, events: [], problem };
      if (reconcile.dryRun) return dryRun(services, context);
      return runSteps(spec.external ? externalSteps : steps, context, readyOutcome);
    },
  };
}

/** What the hub runs on, and how it is reached. */
function clusterSteps(services: Services): readonly HubStep[] {
  const steps = [
    storageStep(services),
    workloadStep(services),
    serviceStep(services),
    ...exposureSteps(services),
  ];
  return steps.map((step) => continueOnFailure(services, step));
}

/** Why `delivery: File` does not work yet; the hub is reconciled all the same. */
function unsupportedDelivery({ delivery, external }: HubSpec): Outcome | undefined {
  if (delivery !== 'File' || external) return undefined;
  const message = 'This version of the operator does not know delivery: File yet: set it to Api.';
  return stalled('NotYetSupported', message);
}

/** The annotation `dry-run`: the API server says what it would do, and the hub is not talked to. */
async function dryRun(services: Services, context: HubContext): Promise<Outcome> {
  const dryRunApplier = new DryRunApplier(services.cluster, API_GROUP);
  const steps = context.spec.external ? [] : clusterSteps({ ...services, applier: dryRunApplier });
  return runSteps(steps, context, () => {
    const { differences } = dryRunApplier;
    if (context.spec.external)
      return ready('DryRun', 'The hub runs elsewhere and is left alone: nothing of it was compared.');
    if (differences.length === 0)
      return ready('DryRun', 'Nothing would be changed in the cluster. The hub is left alone.');
    return stalled('DryRun', `${differences.join(' ')} Remove the annotation to have it done.`);
  });
}

/** "Ready only when the hub answers with our token and is not in recovery mode." */
function readyOutcome({ core, url }: HubContext): Outcome {
  return ready('HubRunning', `Home Assistant ${core?.version} answers at ${url} (${core?.state}).`);
}

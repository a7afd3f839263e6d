import type { Hub, HubSpec } from '../../../kinds/index';
import { objectNames } from '../../../kinds/object-names';
import { DEPENDENCY_REQUEUE } from '../../../limits';
import type { Manifest } from '../../../runtime/apply';
import type { ClusterObject } from '../../../runtime/objects';
import { stalled, waiting } from '../../../runtime/outcome';
import { builtin } from '../../../runtime/types';
import type { Services } from '../../services';
import { refuseDowngrade } from './downgrade';
import { mergePodTemplate, NotMergeable } from './merge';
import { type PodHashes, podTemplate } from './pod-template';
import { lostPart } from './protected-parts';
import { hashesOf, Rollouts } from './rollout';
import { selectorOf, syncOperatorIp } from '../exposure/service';
import { type HubStep, requeueAfter } from '../steps';

/** As far as we look into it. */
export interface StatefulSet extends ClusterObject {
  readonly spec: {
    readonly template: { readonly metadata?: { readonly annotations?: Readonly<Record<string, string>> } };
  };
}

/** The StatefulSet that runs the hub, once there is a configuration to run it with. */
export function workloadStep(services: Services): HubStep {
  const { applier } = services;
  const rollouts = new Rollouts(services);
  return {
    name: 'StatefulSet',
    async run(context) {
      const { hub, spec, status } = context;
      // First: a hub that runs is freed of a ban with it, whatever else is refused.
      await syncOperatorIp(services, hub);
      const refusal = context.claim && refuseDowngrade(hub, spec, context.claim);
      if (refusal) return stalled('DowngradeRefused', refusal);
      const { namespace, name } = hub.metadata;
      const present = await applier.find<StatefulSet>(
        builtin.StatefulSet,
        namespace,
        objectNames(name).workload,
      );
      const hashes = await rollouts.hashes(hub, present);
      if (!hashes) {
        const message = 'Waiting for a HubConfiguration of this Hub: create one.';
        return waiting('WaitingForConfiguration', message, DEPENDENCY_REQUEUE, {
          status: { phase: 'Pending' },
        });
      }
      const wanted = statefulSet(hub, spec, hashes, applier.labels(hub));
      if ('problem' in wanted) return stalled('InvalidSpec', wanted.problem);
      const pause = rollouts.debounceRemaining(hub, present, wanted.manifest);
      const set =
        pause > 0 && present
          ? present
          : await applier.apply<StatefulSet>(builtin.StatefulSet, wanted.manifest, { owner: hub });
      if (pause > 0) {
        // What the API server would refuse is said at once.
        await applier.dryRun(builtin.StatefulSet, wanted.manifest, { owner: hub });
        requeueAfter(context, pause);
      }
      const applied = hashesOf(set);
      status['configHash'] = applied?.config ?? null;
      status['secretsHash'] = applied?.secrets ?? null;
      return undefined;
    },
  };
}

/** The StatefulSet as it is wanted, `spec.podTemplate` merged in; or a sentence that says why that cannot be. */
export function statefulSet(
  hub: Hub,
  spec: HubSpec,
  hashes: PodHashes,
  ownerLabels: Readonly<Record<string, string>>,
): { readonly manifest: Manifest } | { readonly problem: string } {
  const { name, namespace } = hub.metadata;
  const selector = selectorOf(hub);
  const own = podTemplate(hub, spec, { ...selector, ...ownerLabels }, hashes);
  try {
    const template = mergePodTemplate(own, spec.podTemplate ?? {});
    const lost = lostPart(own, template);
    if (lost)
      return {
        problem: `podTemplate changes ${lost}, which the hub does not work without: leave that to the operator.`,
      };
    const manifest = {
      apiVersion: 'apps/v1',
      kind: 'StatefulSet',
      metadata: { name: objectNames(name).workload, namespace, labels: selector },
      spec: {
        replicas: 1,
        serviceName: objectNames(name).workload,
        // With OrderedReady a pod that never gets ready is not replaced by a corrected template.
        podManagementPolicy: 'Parallel',
        updateStrategy: { type: 'RollingUpdate' },
        revisionHistoryLimit: 2,
        selector: { matchLabels: selector },
        template,
      },
    };
    return { manifest };
  } catch (error) {
    if (error instanceof NotMergeable) return { problem: `podTemplate.${error.message}.` };
    throw error;
  }
}

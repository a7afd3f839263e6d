import type { V1Container } from '@kubernetes/client-node';
import type { Hub, HubSpec } from '../../../kinds';
import { objectNames, selectorOf } from '../../../kinds/object-names';
import { DEPENDENCY_REQUEUE } from '../../../base/limits';
import type { Manifest } from '../../../runtime/apply';
import type { Sent } from '../../../runtime/objects';
import { type Outcome, stalled, waiting } from '../../../runtime/outcome';
import { builtin } from '../../../runtime/types';
import type { Services } from '../../services';
import { type HubContext, requeueAfter, type WithClaim, type WorkloadStep } from '../steps';
import {
  claimName,
  configClaimOf,
  HUB_CONTAINER,
  hubImageOf,
  type StatefulSet,
  workloadManifest,
} from '../../hub-pod/owned-objects';
import { communityHash, hashesOf, type PodHashes, rolloutHashes } from '../../hub-pod/rollout-hashes';
import { allowsDowngrade, leftAllowance, refuseDowngrade } from './downgrade';
import { mergePodTemplate, NotMergeable, type PodTemplate } from './merge';
import { ALLOW_DOWNGRADE_KEY, GRACE_SECONDS, OPERATOR_IP_KEY, podTemplate } from './pod-template';
import { lostPart } from './protected-parts';
import { deletionEvent, type Rollouts } from './rollouts';

/**
 * Ensures the StatefulSet that runs the hub, as soon as there is a configuration. Sets `status.configHash`
 * and `status.secretsHash` to the hashes in the pod template. If the StatefulSet cannot be changed,
 * `status.restartHeld` says why.
 *
 * @param rollouts undefined in a dry-run, which has no delays
 */
export function ensureStatefulSet(
  services: Pick<Services, 'applier' | 'settings' | 'cache'>,
  rollouts: Rollouts | undefined,
): WorkloadStep<HubContext & WithClaim> {
  const { applier } = services;
  return {
    name: 'StatefulSet',
    async run(context) {
      const { hub, spec, status } = context;
      status['restartHeld'] = null;
      const deletion = rollouts?.takeDeletion(hub);
      if (deletion !== undefined) context.events.push(deletionEvent(deletion));
      // The init values come first: they lift a ban of a running hub, even if a later step fails.
      await ensureInitValues(services, hub, spec);
      const problem = problemOfVolume(context);
      if (problem) return problem;
      const { namespace, name } = hub.metadata;
      const { workload } = objectNames(name);
      // The StatefulSet is read from the API server, since an outdated one from the cache could delay a
      // rollout that has already begun, or bring back its former hashes.
      const present = await applier.find<StatefulSet>(builtin.StatefulSet, namespace, workload);
      const hashes = await rolloutHashes(services, hub, present);
      if (!hashes) return configurationMissing;
      const community = communityHash(services, hub);
      const desired = statefulSet(hub, spec, { ...hashes, community }, applier.labels(hub));
      if ('problem' in desired) return stalled('InvalidSpec', desired.problem);
      const { claimProblem } = context;
      if (claimProblem && !runsLike(present, desired.manifest, claimName(hub))) return claimProblem.outcome;
      const applied = hashesOf(await rollOut(services, rollouts, context, present, desired.manifest));
      status['configHash'] = applied?.config ?? null;
      status['secretsHash'] = applied?.secrets ?? null;
      return {};
    },
    present: ({ hub, status }, failure) => {
      if (failure.type === 'Stalled') {
        status['restartHeld'] = failure.reason;
        rollouts?.recordHeld(hub);
      }
      return {};
    },
  };
}

const configurationMissing = waiting(
  'WaitingForConfiguration',
  'Waiting for a HubConfiguration of this Hub: create one.',
  DEPENDENCY_REQUEUE,
  { status: { phase: 'Pending' } },
);

/**
 * The outcome when no pod may start on the volume.
 *
 * @returns undefined when one may
 */
function problemOfVolume({
  hub,
  spec,
  claim,
  claimProblem,
  notices,
}: HubContext & WithClaim): Outcome | undefined {
  if (claimProblem?.isChecked) return claimProblem.outcome;
  const refusal = claim && refuseDowngrade(hub, spec, claim);
  if (refusal) return stalled('DowngradeRefused', refusal);
  const left = leftAllowance(hub, spec, claim);
  if (left !== undefined) notices.push(left);
  return undefined;
}

/**
 * Applies the StatefulSet, as soon as it may restart the hub.
 *
 * @returns the StatefulSet that the hub has now
 */
async function rollOut(
  { applier }: Pick<Services, 'applier'>,
  rollouts: Rollouts | undefined,
  context: HubContext,
  present: StatefulSet | undefined,
  desired: Manifest,
): Promise<StatefulSet> {
  const { hub, notices, reconcile } = context;
  const { delay = 0, notice } = (await rollouts?.delay(hub, present, desired)) ?? {};
  const set =
    delay > 0 && present
      ? present
      : await applier.apply<StatefulSet>(builtin.StatefulSet, desired, { owner: hub });
  if (delay > 0) {
    // The dry run reports a manifest that the API server rejects before the delay is over.
    await applier.dryRun(builtin.StatefulSet, desired, { owner: hub });
    requeueAfter(context, delay);
    if (notice) notices.push(notice);
  } else {
    context.workload = set;
    const restart = present && rollouts?.recordReplaced(hub, present, set);
    if (restart && !reconcile.dryRun) context.events.push(restart);
  }
  return set;
}

/** Reports whether the hub already runs on this claim and with this image. */
function runsLike(present: StatefulSet | undefined, desired: Manifest, claim: string): boolean {
  const next = (desired as unknown as StatefulSet).spec.template.spec;
  const before = present?.spec.template.spec;
  return configClaimOf(before) === claim && hubImageOf(before) === hubImageOf(next);
}

/** The desired StatefulSet with `spec.podTemplate` merged in. If it cannot be merged, a sentence says why. */
export function statefulSet(
  hub: Hub,
  spec: HubSpec,
  hashes: PodHashes,
  ownerLabels: Readonly<Record<string, string>>,
): { readonly manifest: Manifest } | { readonly problem: string } {
  const selector = selectorOf(hub);
  const own = podTemplate(hub, spec, { ...selector, ...ownerLabels }, hashes);
  try {
    const merged = mergePodTemplate(own, spec.podTemplate ?? {});
    const lost = lostPart(own, merged);
    if (lost)
      return {
        problem: `spec.podTemplate changes ${lost}, which the operator needs: remove that field from spec.podTemplate.`,
      };
    const { terminationGracePeriodSeconds: grace } = merged['spec'] as Record<string, unknown>;
    if (typeof grace !== 'number' || grace < GRACE_SECONDS)
      return {
        problem: `spec.podTemplate.spec.terminationGracePeriodSeconds is ${String(grace)}, and a hub that is killed before it has stopped can lose its database: set it to ${GRACE_SECONDS} or more, or remove it.`,
      };
    const manifest = workloadManifest(builtin.StatefulSet, hub, {
      replicas: 1,
      serviceName: objectNames(hub.metadata.name).workload,
      // With the policy OrderedReady, a pod that never becomes ready is not replaced when the template is
      // corrected.
      podManagementPolicy: 'Parallel',
      updateStrategy: { type: 'RollingUpdate' },
      revisionHistoryLimit: 2,
      selector: { matchLabels: selector },
      template: withImageOfHub(own, merged),
    });
    return { manifest };
  } catch (error) {
    if (error instanceof NotMergeable) return { problem: `spec.podTemplate.${error.message}.` };
    throw error;
  }
}

/**
 * If `spec.podTemplate` replaces the image of the hub, the operator's init containers use that image too:
 * they compare its version with the version on the volume, and check the configuration with it.
 */
function withImageOfHub(own: PodTemplate, merged: PodTemplate): PodTemplate {
  const containersOf = (template: PodTemplate, list: 'containers' | 'initContainers') =>
    (template['spec'] as Record<typeof list, readonly Sent<V1Container>[]>)[list];
  const imageIn = (template: PodTemplate) =>
    containersOf(template, 'containers').find(({ name }) => name === HUB_CONTAINER)?.image;
  const [standard, image] = [imageIn(own), imageIn(merged)];
  const ours = new Set(containersOf(own, 'initContainers').map(({ name }) => name));
  const initContainers = containersOf(merged, 'initContainers').map((container) =>
    ours.has(container.name) && container.image === standard ? { ...container, image } : container,
  );
  return { ...merged, spec: { ...(merged['spec'] as object), initContainers } };
}

/**
 * Ensures the ConfigMap `<hub>-operator-ip` with the values that the init containers read: the operator's
 * address, and whether an older version may start. They are not part of the pod template, since a change of
 * them must not restart a running hub.
 */
async function ensureInitValues(
  { applier, settings }: Pick<Services, 'applier' | 'settings'>,
  hub: Hub,
  spec: HubSpec,
): Promise<void> {
  const { name, namespace } = hub.metadata;
  const metadata = { name: objectNames(name).operatorIp, namespace };
  const data = {
    [OPERATOR_IP_KEY]: settings.podIp || undefined, // not known outside of a cluster
    [ALLOW_DOWNGRADE_KEY]: allowsDowngrade(hub, spec) ? 'true' : undefined,
  };
  const manifest = { apiVersion: 'v1', kind: 'ConfigMap', metadata, data };
  await applier.apply(builtin.ConfigMap, manifest, { owner: hub });
}

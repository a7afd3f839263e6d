import { Discovery } from '../../../runtime/discovery';
import type { Services } from '../../services';
import {
  continueOnFailure,
  type HubContext,
  type Steps,
  type WithAddress,
  type WorkloadStep,
} from '../steps';
import { ensureHttpRoute } from './gateway';
import { ensureIngress } from './ingress';
import { ensureService } from './service';
import type { Hub, HubSpec } from '../../../kinds';
import { OPERATOR_LABELS, selectorOf } from '../../../kinds/object-names';
import type { Manifest } from '../../../runtime/apply';
import { builtin } from '../../../runtime/types';
import { HUB_PORT, workloadManifest } from '../../hub-pod/owned-objects';
import { ensureObject } from './ensure-object';

/**
 * The steps that make the hub reachable: Service, Ingress with its Certificate, HTTPRoute, NetworkPolicy
 * (rules.md, "Exposure").
 */
export function addExposure<Stage extends HubContext>(
  steps: Steps<Stage>,
  services: Pick<Services, 'applier' | 'clock' | 'cluster' | 'settings' | 'cache'>,
): Steps<Stage & WithAddress> {
  const discovery = new Discovery(services.cluster, services.clock);
  return steps
    .add(continueOnFailure(services, ensureService(services)))
    .add(continueOnFailure(services, ensureIngress(services, discovery)))
    .add(continueOnFailure(services, ensureHttpRoute(services, discovery)))
    .add(continueOnFailure(services, ensureNetworkPolicy(services)));
}

/** Ensures the NetworkPolicy of `spec.networkPolicy`, or removes it if that is disabled. */
function ensureNetworkPolicy(services: Pick<Services, 'applier' | 'settings' | 'cache'>): WorkloadStep {
  return {
    name: 'NetworkPolicy',
    async run({ hub, spec }) {
      const { podNamespace } = services.settings;
      const desired = spec.networkPolicy.enabled ? networkPolicyOf(hub, spec, podNamespace) : undefined;
      await ensureObject(services, hub, builtin.NetworkPolicy, desired);
      return {};
    },
    present: () => ({}),
  };
}

/**
 * A policy that admits only the operator and `spec.networkPolicy.from` to the hub's pod. The port in a
 * NetworkPolicy is the port of the pod, not of the Service.
 */
function networkPolicyOf(hub: Hub, { networkPolicy }: HubSpec, operatorNamespace: string): Manifest {
  const operator = {
    namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': operatorNamespace } },
    podSelector: { matchLabels: OPERATOR_LABELS },
  };
  const from = [operator, ...(networkPolicy.from ?? [])];
  return workloadManifest(builtin.NetworkPolicy, hub, {
    podSelector: { matchLabels: selectorOf(hub) },
    policyTypes: ['Ingress'],
    ingress: [{ from, ports: [{ port: HUB_PORT, protocol: 'TCP' }] }],
  });
}

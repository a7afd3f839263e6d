import { Discovery } from '../../../runtime/discovery';
import type { Services } from '../../services';
import { continueOnFailure } from '../continue-on-failure';
import type { HubContext, Steps, WithAddress } from '../steps';
import { ensureHttpRoute } from './gateway';
import { ensureIngress } from './ingress';
import { ensureNetworkPolicy } from './network-policy';
import { ensureService } from './service';

/** The steps that make the hub reachable: Service, Ingress with its Certificate, HTTPRoute, NetworkPolicy (rules.md, "Exposure"). */
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

import { NAMESPACE, OPERATOR } from '../manifests/names';
import type { Kubectl } from './kubectl';

interface Lease {
  readonly spec?: {
    readonly holderIdentity?: string;
    readonly renewTime?: string;
    readonly leaseDurationSeconds?: number;
  };
}

/**
 * Whether an operator seems to work in the cluster: it holds its lease, or its Deployment has a ready pod. A pod that is
 * frozen may seem to; one that runs outside of the cluster without leader election does not.
 */
export async function isOperatorRunning(kubectl: Kubectl): Promise<boolean> {
  const where = [OPERATOR, `--namespace=${NAMESPACE}`];
  const [deployment] = await kubectl.list<{ status?: { availableReplicas?: number } }>([
    'deployment',
    ...where,
  ]);
  if ((deployment?.status?.availableReplicas ?? 0) > 0) return true;
  const [lease] = await kubectl.list<Lease>(['lease', ...where]);
  const { holderIdentity, renewTime, leaseDurationSeconds = 0 } = lease?.spec ?? {};
  if (!holderIdentity || renewTime === undefined) return false;
  return Date.parse(renewTime) + leaseDurationSeconds * 1_000 > Date.now();
}

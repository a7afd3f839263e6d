import type { Hub, HubSpec } from '../../../kinds/index';
import { objectNames } from '../../../kinds/object-names';
import { DEPENDENCY_REQUEUE } from '../../../limits';
import { ObjectRejected } from '../../../runtime/apply';
import type { ConditionValue } from '../../../runtime/outcome';
import { ApiError } from '../../../runtime/api-client';
import { builtin } from '../../../runtime/types';
import type { Services } from '../../services';
import type { WorkloadStep } from '../continue-on-failure';
import { latestWarning } from '../health/warning-events';
import type { Claim } from '../owned-objects';
import { type HubContext, requeueAfter, type WithClaim } from '../steps';
import { parseQuantity } from './quantity';

type StorageSpec = HubSpec['storage'];
type StorageServices = Pick<Services, 'applier' | 'cluster'>;

interface ClaimState {
  readonly claim?: Claim | undefined;
  readonly condition: ConditionValue;
}

/**
 * Ensures the claim for `/config`. Leaves the condition `StorageReady`, which reports whatever is wrong with the claim:
 * the reconcile continues with the claim as it is (rules.md, "Storage").
 */
export function ensureStorage(services: StorageServices): WorkloadStep<HubContext, WithClaim> {
  return {
    name: 'PersistentVolumeClaim',
    async run(context) {
      const { claim, condition } = await ensureClaim(services, context.hub, context.spec.storage);
      context.conditions['StorageReady'] = condition;
      // Only our own claims are watched.
      if (condition.status !== 'True') requeueAfter(context, DEPENDENCY_REQUEUE);
      return { claim };
    },
    present: () => ({ claim: undefined }),
  };
}

async function ensureClaim(services: StorageServices, hub: Hub, desired: StorageSpec): Promise<ClaimState> {
  const { applier } = services;
  const name = desired.existingClaim ?? objectNames(hub.metadata.name).volumeClaim;
  const present = await applier.find<Claim>(builtin.PersistentVolumeClaim, hub.metadata.namespace, name);
  // The claim of a former Hub of that name is on its way out: this Hub gets a new one.
  const isFormer = present && isControlled(present) && !applier.isOurs(present, hub);
  if (present?.metadata.deletionTimestamp && (desired.existingClaim || !isFormer))
    return { claim: present, condition: terminating(hub, name) };
  if (desired.existingClaim) return existingClaim(services, name, present);
  const problems = present ? differences(present, desired) : [];
  // "A claim of that name that exists already is used": as it is, when somebody else made it.
  if (present && !isFormer && !applier.isOurs(present, hub))
    return { claim: present, condition: await storageReady(services, present, problems) };
  return applyClaim(services, hub, desired, present, problems);
}

async function existingClaim(
  services: StorageServices,
  name: string,
  present: Claim | undefined,
): Promise<ClaimState> {
  if (present) return { claim: present, condition: await storageReady(services, present, []) };
  return {
    condition: mismatch(
      `The PersistentVolumeClaim ${name} of storage.existingClaim does not exist: create it.`,
    ),
  };
}

async function applyClaim(
  services: StorageServices,
  hub: Hub,
  desired: StorageSpec,
  present: Claim | undefined,
  problems: readonly string[],
): Promise<ClaimState> {
  const manifest = {
    apiVersion: 'v1',
    kind: 'PersistentVolumeClaim',
    metadata: { name: objectNames(hub.metadata.name).volumeClaim, namespace: hub.metadata.namespace },
    spec: claimSpec(desired, present),
  };
  try {
    const claim = await services.applier.apply<Claim>(builtin.PersistentVolumeClaim, manifest, {
      owner: hub,
      ownerReference: !desired.retain,
    });
    return { claim, condition: await storageReady(services, claim, problems) };
  } catch (error) {
    // An admission plugin answers 403 where the class cannot expand its volumes.
    const refused = error instanceof ObjectRejected || (error instanceof ApiError && error.status === 403);
    if (!refused || !present) throw error;
    return { claim: present, condition: mismatch(...problems, error.message) };
  }
}

async function storageReady(
  services: StorageServices,
  claim: Claim,
  problems: readonly string[],
): Promise<ConditionValue> {
  const { phase = 'Pending', capacity } = claim.status ?? {};
  const { name } = claim.metadata;
  if (problems.length > 0) return mismatch(...problems);
  if (phase === 'Lost') return mismatch(`The PersistentVolumeClaim ${name} has lost its volume.`);
  if (phase !== 'Bound') {
    const warning = await latestWarning(services, claim);
    return {
      status: 'Unknown',
      reason: 'Bound',
      message: `${name} is ${phase}${warning ? `: ${warning}` : '.'}`,
    };
  }
  const size = requestOf(claim);
  if (size !== undefined && parseQuantity(capacity?.storage ?? '0') < parseQuantity(size))
    return expanding(claim, size);
  return {
    status: 'True',
    reason: 'Bound',
    message: `${name} is bound (${capacity?.storage ?? 'of unknown size'}).`,
  };
}

function expanding({ metadata: { name }, status }: Claim, size: string): ConditionValue {
  const { capacity, conditions = [] } = status ?? {};
  const steps = conditions
    .filter(({ status: value }) => value === 'True')
    .map(({ type, message }) => `${type}${message ? `: ${message}` : ''}`);
  const message = [`${name} grows from ${capacity?.storage ?? 'nothing'} to ${size}.`, ...steps].join(' ');
  return { status: 'False', reason: 'Expanding', message };
}

/** The spec to apply. Of a claim that exists only the size can change, once it is bound, and only upwards. */
export function claimSpec(
  desired: StorageSpec,
  present: Claim | undefined,
): Readonly<Record<string, unknown>> {
  const { accessModes, storageClassName } = present ? present.spec : desired;
  const before = present && requestOf(present);
  const size =
    before === undefined || (present?.status?.phase === 'Bound' && !isSmaller(desired, present))
      ? desired.size
      : before;
  return {
    accessModes,
    resources: { requests: { storage: size } },
    ...(storageClassName !== undefined && { storageClassName }),
  };
}

/** How a claim that was found differs from the spec, one sentence each, with the way out. */
export function differences(claim: Claim, desired: StorageSpec): string[] {
  const { name } = claim.metadata;
  const { storageClassName, accessModes = [] } = claim.spec;
  const problems: string[] = [];
  if (desired.storageClassName !== undefined && desired.storageClassName !== (storageClassName ?? '')) {
    problems.push(
      `${name} has the storage class "${storageClassName ?? ''}", not "${desired.storageClassName}": it is used as it is. ` +
        'To change the class, move the data to another claim and name it in storage.existingClaim.',
    );
  }
  const lacking = desired.accessModes.filter((mode) => !accessModes.includes(mode));
  if (lacking.length > 0) {
    problems.push(
      `${name} has the access modes ${accessModes.join(', ')}, not ${desired.accessModes.join(', ')}: it is used as it is.`,
    );
  }
  if (isSmaller(desired, claim)) {
    const size = claim.status?.capacity?.storage ?? requestOf(claim);
    problems.push(
      `${name} has ${size}, and a volume cannot shrink to ${desired.size}: set storage.size to ${size} or more.`,
    );
  }
  return problems;
}

const isControlled = ({ metadata: { ownerReferences = [] } }: Claim): boolean =>
  ownerReferences.some(({ controller }) => controller);

/** Less than the volume already has. A request that could not be fulfilled may be taken back. */
function isSmaller(desired: StorageSpec, claim: Claim): boolean {
  const size = claim.status?.capacity?.storage ?? requestOf(claim);
  return size !== undefined && parseQuantity(desired.size) < parseQuantity(size);
}

const requestOf = ({ spec }: Claim): string | undefined => spec.resources?.requests?.storage;

/** Deleted by somebody while the hub uses it. That cannot be undone; the claim stays until the pod ends. */
function terminating(hub: Hub, claim: string): ConditionValue {
  const { pod } = objectNames(hub.metadata.name);
  return mismatch(
    `${claim} is being deleted, and its data with it as soon as the pod ${pod} ends: make a backup, keep it elsewhere, then delete the pod.`,
  );
}

const mismatch = (...problems: string[]): ConditionValue => ({
  status: 'False',
  reason: 'Mismatch',
  message: problems.join(' '),
});

import type { Hub, HubSpec } from '../../../kinds/index';
import { objectNames } from '../../../kinds/object-names';
import { DEPENDENCY_REQUEUE } from '../../../base/limits';
import { controllerOf } from '../../../runtime/object-ownership';
import { ObjectRejected } from '../../../runtime/apply-errors';
import { condition, type ConditionValue, type Outcome, waiting } from '../../../runtime/outcome';
import { builtin } from '../../../runtime/types';
import type { Services } from '../../services';
import { type HubContext, requeueAfter, type WithClaim, type WorkloadStep } from '../steps';
import { latestWarning } from '../warning-events';
import { type Claim, claimName } from '../../hub-pod/owned-objects';
import { keptNotice, separateDelivered } from '../../hub-pod/delivery-volumes';
import { removeOwnerReference } from '../../hub-pod/owner-reference';
import { releaseNamedClaim, retainsOwnClaim } from '../../hub-pod/retain';
import { ClaimConflicts } from './claim-conflict';
import { parseQuantity } from './quantity';

type StorageSpec = HubSpec['storage'];
type StorageServices = Pick<Services, 'applier' | 'cache' | 'cluster'>;

interface ClaimState {
  readonly claim?: Claim | undefined;
  readonly condition: ConditionValue;
}

/**
 * Ensures the claim for `/config`. The condition `StorageReady` reports every problem of the claim, and the
 * reconcile continues with the existing claim (rules.md, "Storage"). A claim that serves another Hub is not
 * touched.
 */
export function ensureStorage(services: StorageServices): WorkloadStep<HubContext, WithClaim> {
  const conflicts = new ClaimConflicts(services);
  return {
    name: 'PersistentVolumeClaim',
    async run(context) {
      const { hub, conditions, reconcile } = context;
      const conflict = await conflicts.find(hub);
      if (!reconcile.dryRun) await releaseNamedClaim(services, hub);
      if (conflict) {
        conditions['StorageReady'] = mismatch(conflict.message);
        return withoutClaim(conflict);
      }
      const separate = async (volume: string | undefined) => {
        if (!reconcile.dryRun) await separateDelivered(services, hub, volume);
      };
      const { claim, condition } = await ensureClaim(services, hub, context.spec.storage, separate);
      // The definitions are separated before the pod starts: the hub runs all definitions that are mounted.
      if (claim) await separate(claim.metadata.uid);
      const notice = keptNotice(services, hub);
      if (notice !== undefined) context.notices.push(notice);
      // `existingClaim` may name a claim that this Hub created earlier. From now on the claim belongs to the
      // user.
      if (claim && context.spec.storage.existingClaim && !reconcile.dryRun)
        await removeOwnerReference(services, hub, builtin.PersistentVolumeClaim, claim);
      conditions['StorageReady'] = condition;
      // Only claims of the operator are watched.
      if (condition.status !== 'True') requeueAfter(context, DEPENDENCY_REQUEUE);
      return claim ? { claim } : withoutClaim(waiting('PodNotReady', condition.message, DEPENDENCY_REQUEUE));
    },
    present({ hub, conditions }, failure) {
      const message = `The PersistentVolumeClaim ${claimName(hub)} could not be checked, so the pod keeps its claim and its image: ${failure.message}`;
      conditions['StorageReady'] = condition('Unknown', 'NotChecked', message);
      return { claim: undefined, claimProblem: { outcome: failure, isChecked: false } };
    },
  };
}

const withoutClaim = (outcome: Outcome): WithClaim => ({
  claim: undefined,
  claimProblem: { outcome, isChecked: true },
});

/**
 * @param separate moves delivered definitions of other volumes away before the claim exists, since a pod may
 * be waiting for it
 */
async function ensureClaim(
  services: StorageServices,
  hub: Hub,
  desired: StorageSpec,
  separate: (volume: undefined) => Promise<void>,
): Promise<ClaimState> {
  const { applier } = services;
  const name = claimName(hub);
  // The claim is read from the API server: the cache has only the operator's own claims, and a deletion or an
  // expansion must be seen at once.
  const present = await applier.find<Claim>(builtin.PersistentVolumeClaim, hub.metadata.namespace, name);
  // A claim of a former Hub of this name is about to be deleted. This Hub gets a new claim.
  const isFormer = present && controllerOf(present) && !applier.isOurs(present, hub);
  if (present?.metadata.deletionTimestamp && (desired.existingClaim || !isFormer))
    return { claim: present, condition: terminating(hub, name) };
  if (desired.existingClaim) {
    const missing = `The PersistentVolumeClaim ${name} of storage.existingClaim does not exist: create it.`;
    return {
      claim: present,
      condition: present ? await storageReady(services, present, []) : mismatch(missing),
    };
  }
  if (!present) await separate(undefined);
  const problems = present ? differences(present, desired) : [];
  // An existing claim of this name that the operator did not create is used unchanged.
  if (present && !isFormer && !applier.isOurs(present, hub))
    return { claim: present, condition: await storageReady(services, present, problems) };
  return applyClaim(services, hub, desired, present, problems);
}

async function applyClaim(
  services: StorageServices,
  hub: Hub,
  desired: StorageSpec,
  present: Claim | undefined,
  problems: readonly string[],
): Promise<ClaimState> {
  const apply = (spec: object) =>
    services.applier.apply<Claim>(
      builtin.PersistentVolumeClaim,
      {
        apiVersion: 'v1',
        kind: 'PersistentVolumeClaim',
        metadata: { name: objectNames(hub.metadata.name).volumeClaim, namespace: hub.metadata.namespace },
        spec,
      },
      { owner: hub, ownerReference: retainsOwnClaim(services, hub) ? 'never' : 'at creation' },
    );
  try {
    const claim = await apply(claimSpec(desired, present));
    return { claim, condition: await storageReady(services, claim, problems) };
  } catch (error) {
    // If the storage class cannot expand its volumes, an admission plugin rejects the new size with 403.
    const size = present && requestOf(present);
    if (!(error instanceof ObjectRejected) || size === undefined) throw error;
    // The former size is applied, so that the other fields, such as `retain`, take effect.
    const claim = await apply(claimSpec({ ...desired, size }, present));
    return { claim, condition: mismatch(...problems, error.message) };
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
    return condition('False', 'Pending', `${name} is ${phase}${warning ? `: ${warning}` : '.'}`);
  }
  const size = requestOf(claim);
  if (size !== undefined && parseQuantity(capacity?.storage ?? '0') < parseQuantity(size))
    return expanding(claim, size);
  return condition('True', 'Bound', `${name} is bound (${capacity?.storage ?? 'of unknown size'}).`);
}

function expanding({ metadata: { name }, status }: Claim, size: string): ConditionValue {
  const { capacity, conditions = [] } = status ?? {};
  const steps = conditions
    .filter(({ status: value }) => value === 'True')
    .map(({ type, message }) => `${type}${message ? `: ${message}` : ''}`);
  const message = [`${name} grows from ${capacity?.storage ?? 'nothing'} to ${size}.`, ...steps].join(' ');
  return condition('False', 'Expanding', message);
}

/**
 * The spec of the claim to apply. In an existing claim only the size can change: once it is bound, and only
 * upwards.
 */
export function claimSpec(
  desired: StorageSpec,
  present: Claim | undefined,
): Readonly<Record<string, unknown>> {
  const { accessModes, storageClassName } = present ? present.spec : desired;
  const size = sizeToRequest(desired, present);
  return {
    accessModes,
    resources: { requests: { storage: size } },
    ...(storageClassName !== undefined && { storageClassName }),
  };
}

/** The differences between an existing claim and the spec. Each is a sentence that says how to resolve it. */
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
  if (isShrinking(desired, claim)) {
    const sizes = [claim.status?.capacity?.storage, requestOf(claim)].filter((size) => size !== undefined);
    const [least] = [...sizes].sort((x, y) => parseQuantity(x) - parseQuantity(y));
    problems.push(
      `${name} has ${sizes[0]}, and a volume cannot shrink to ${desired.size}: set storage.size to ${least} or more.`,
    );
  }
  return problems;
}

function sizeToRequest(desired: StorageSpec, present: Claim | undefined): string {
  const requested = present && requestOf(present);
  if (requested === undefined) return desired.size;
  if (present?.status?.phase !== 'Bound' || isShrinking(desired, present)) return requested;
  // A volume may be larger than its claim requested, so it may already be large enough.
  const capacity = present.status.capacity?.storage;
  const size = parseQuantity(desired.size);
  const isEnough = size > parseQuantity(requested) && size <= parseQuantity(capacity ?? '0');
  return isEnough ? requested : desired.size;
}

/**
 * Reports whether the desired size is less than both the request and the volume. A request that could not be
 * fulfilled may be reduced.
 */
function isShrinking(desired: StorageSpec, claim: Claim): boolean {
  const requested = requestOf(claim);
  const sizes = [requested, claim.status?.capacity?.storage ?? requested];
  return sizes.every((size) => size !== undefined && parseQuantity(desired.size) < parseQuantity(size));
}

const requestOf = ({ spec }: Claim): string | undefined => spec.resources?.requests?.storage;

/**
 * The condition of a claim that was deleted while the hub uses it. The deletion cannot be undone, but the
 * claim exists until the pod ends.
 */
const terminating = (hub: Hub, claim: string): ConditionValue =>
  mismatch(
    `${claim} is being deleted, and its data with it as soon as the pod ${objectNames(hub.metadata.name).pod} ends: make a backup, keep it elsewhere, then delete the pod.`,
  );

const mismatch = (...problems: string[]): ConditionValue =>
  condition('False', 'Mismatch', problems.join(' '));

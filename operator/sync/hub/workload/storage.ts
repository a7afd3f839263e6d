import type { Hub, HubSpec } from '../../../kinds/index';
import { objectNames } from '../../../kinds/object-names';
import { DEPENDENCY_REQUEUE } from '../../../limits';
import { ObjectRejected } from '../../../runtime/apply';
import type { ClusterObject } from '../../../runtime/objects';
import type { ConditionValue } from '../../../runtime/outcome';
import { ApiError } from '../../../runtime/api-client';
import { builtin } from '../../../runtime/types';
import type { Services } from '../../services';
import { latestWarning } from '../health/warning-events';
import { parseQuantity } from './quantity';
import { type HubStep, requeueAfter } from '../steps';

/** A PersistentVolumeClaim, as far as we look into it. */
export interface Claim extends ClusterObject {
  readonly spec: {
    readonly storageClassName?: string;
    readonly accessModes?: readonly string[];
    readonly resources?: { readonly requests?: { readonly storage?: string } };
  };
  readonly status?: {
    readonly phase?: string;
    readonly capacity?: { readonly storage?: string };
    readonly conditions?: readonly {
      readonly type: string;
      readonly status: string;
      readonly message?: string;
    }[];
  };
}

type StorageSpec = HubSpec['storage'];

/** The claim for `/config`; whatever is wrong with it is said in `StorageReady`, and the rest of the pass goes on. */
export function storageStep(services: Services): HubStep {
  const { applier } = services;

  async function run(hub: Hub, wish: StorageSpec): Promise<{ claim?: Claim; condition: ConditionValue }> {
    const name = wish.existingClaim ?? objectNames(hub.metadata.name).volumeClaim;
    const present = await applier.find<Claim>(builtin.PersistentVolumeClaim, hub.metadata.namespace, name);
    // One of a Hub of that name before is waited for: this Hub gets a new one.
    const isFormer = present && isControlled(present) && !applier.isOurs(present, hub);
    if (present?.metadata.deletionTimestamp && (wish.existingClaim || !isFormer))
      return { claim: present, condition: terminating(hub, name) };
    if (wish.existingClaim) {
      if (present) return { claim: present, condition: await stateOf(present, []) };
      return {
        condition: mismatch(
          `The PersistentVolumeClaim ${name} of storage.existingClaim does not exist: create it.`,
        ),
      };
    }
    const problems = present ? differences(present, wish) : [];
    if (present && isForeign(hub, present))
      return { claim: present, condition: await stateOf(present, problems) };
    try {
      const claim = await applier.apply<Claim>(
        builtin.PersistentVolumeClaim,
        {
          apiVersion: 'v1',
          kind: 'PersistentVolumeClaim',
          metadata: { name, namespace: hub.metadata.namespace },
          spec: claimSpec(wish, present),
        },
        { owner: hub, ownerReference: !wish.retain },
      );
      return { claim, condition: await stateOf(claim, problems) };
    } catch (error) {
      // A class that cannot grow its volumes is refused by an admission plugin, with 403.
      const refused = error instanceof ObjectRejected || (error instanceof ApiError && error.status === 403);
      if (!refused || !present) throw error;
      return { claim: present, condition: mismatch(...problems, error.message) };
    }
  }

  /** "A claim of that name that is there already is used": as it is, when somebody else made it. */
  function isForeign(hub: Hub, claim: Claim): boolean {
    return !isControlled(claim) && !claim.metadata.deletionTimestamp && !applier.isOurs(claim, hub);
  }

  async function stateOf(claim: Claim, problems: readonly string[]): Promise<ConditionValue> {
    const { phase = 'Pending', capacity, conditions = [] } = claim.status ?? {};
    const { name } = claim.metadata;
    if (problems.length > 0) return mismatch(...problems);
    if (phase === 'Lost') return mismatch(`The PersistentVolumeClaim ${name} has lost its volume.`);
    if (phase !== 'Bound') {
      const words = await latestWarning(services, claim);
      return {
        status: 'Unknown',
        reason: 'Bound',
        message: `${name} is ${phase}${words ? `: ${words}` : '.'}`,
      };
    }
    const size = requestOf(claim);
    if (size !== undefined && parseQuantity(capacity?.storage ?? '0') < parseQuantity(size)) {
      const steps = conditions
        .filter(({ status }) => status === 'True')
        .map(({ type, message }) => `${type}${message ? `: ${message}` : ''}`);
      const message = [`${name} grows from ${capacity?.storage ?? 'nothing'} to ${size}.`, ...steps].join(
        ' ',
      );
      return { status: 'False', reason: 'Expanding', message };
    }
    return {
      status: 'True',
      reason: 'Bound',
      message: `${name} is bound (${capacity?.storage ?? 'of unknown size'}).`,
    };
  }

  return {
    name: 'PersistentVolumeClaim',
    async run(context) {
      const { claim, condition } = await run(context.hub, context.spec.storage);
      context.claim = claim;
      context.conditions['StorageReady'] = condition;
      // Only claims of ours are watched.
      if (condition.status !== 'True') requeueAfter(context, DEPENDENCY_REQUEUE);
      return undefined;
    },
  };
}

/** What is asked for now: of a claim that is there only the size can change, once it is bound, and only upwards. */
export function claimSpec(wish: StorageSpec, present: Claim | undefined): Readonly<Record<string, unknown>> {
  const { accessModes, storageClassName } = present ? present.spec : wish;
  const before = present && requestOf(present);
  const size =
    before === undefined || (present?.status?.phase === 'Bound' && !isSmaller(wish, present))
      ? wish.size
      : before;
  return {
    accessModes,
    resources: { requests: { storage: size } },
    ...(storageClassName !== undefined && { storageClassName }),
  };
}

/** In which respects a claim that was found is not what is wished for, each with the way out. */
export function differences(claim: Claim, wish: StorageSpec): string[] {
  const { name } = claim.metadata;
  const { storageClassName, accessModes = [] } = claim.spec;
  const problems: string[] = [];
  if (wish.storageClassName !== undefined && wish.storageClassName !== (storageClassName ?? '')) {
    problems.push(
      `${name} has the storage class "${storageClassName ?? ''}", not "${wish.storageClassName}": it is used as it is. ` +
        'To change the class, move the data to another claim and name it in storage.existingClaim.',
    );
  }
  const lacking = wish.accessModes.filter((mode) => !accessModes.includes(mode));
  if (lacking.length > 0) {
    problems.push(
      `${name} has the access modes ${accessModes.join(', ')}, not ${wish.accessModes.join(', ')}: it is used as it is.`,
    );
  }
  if (isSmaller(wish, claim)) {
    const size = claim.status?.capacity?.storage ?? requestOf(claim);
    problems.push(
      `${name} has ${size}, and a volume cannot shrink to ${wish.size}: set storage.size to ${size} or more.`,
    );
  }
  return problems;
}

const isControlled = ({ metadata: { ownerReferences = [] } }: Claim): boolean =>
  ownerReferences.some(({ controller }) => controller);

/** Less than the volume already has. What was asked for in vain may be taken back. */
function isSmaller(wish: StorageSpec, claim: Claim): boolean {
  const size = claim.status?.capacity?.storage ?? requestOf(claim);
  return size !== undefined && parseQuantity(wish.size) < parseQuantity(size);
}

const requestOf = ({ spec }: Claim): string | undefined => spec.resources?.requests?.storage;

/** Deleted by somebody while the hub uses it: it cannot be kept, and the hub runs on it as long as its pod does. */
function terminating(hub: Hub, claim: string): ConditionValue {
  const { pod } = objectNames(hub.metadata.name);
  return mismatch(
    `${claim} is being deleted, and goes with all that is on it when the pod ${pod} goes: make a backup and keep it elsewhere, then delete the pod.`,
  );
}

const mismatch = (...problems: string[]): ConditionValue => ({
  status: 'False',
  reason: 'Mismatch',
  message: problems.join(' '),
});

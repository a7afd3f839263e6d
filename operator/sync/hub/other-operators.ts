import type { Hub } from '../../kinds';
import { conditionOf } from '../../runtime/conditions';
import { condition, type ConditionValue } from '../../runtime/outcome';
import { PerHub } from '../hub-connection/per-hub';
import type { Services } from '../services';
import { type HubContext, requeueAfter } from './steps';

/**
 * Milliseconds between two removals of other operators from the list. An operator that still works on a Hub
 * adds itself again within a resync.
 */
const REMOVAL_INTERVAL = 15 * 60_000;
/** Maximum number of leases that the list holds, since the message of a condition is bounded. */
const MOST = 4;
const SEPARATOR = ', ';

type OperatorServices = Pick<Services, 'cache' | 'clock' | 'log' | 'settings'>;

/**
 * Lists the operators that work on a Hub, each by its lease, in the condition `OnlyOperator` (rules.md,
 * "Leader election"). Two operators with different leases undo each other's work without an error. Each adds
 * itself, and at intervals removes the others: an operator that no longer runs is not added again. All write
 * the same list and the same sentence, so that they do not overwrite each other there too. The list is stored
 * as the message of a condition, since the CRD of an older version would refuse a new status field.
 */
export class OtherOperators {
  /** Monotonic times at which the other operators were last removed from the list. */
  private readonly removals: PerHub<number>;

  constructor(private readonly services: OperatorServices) {
    this.removals = new PerHub(services.cache);
  }

  /**
   * The sentence about other operators for the message of `Ready`. It is also added when the Hub is not
   * ready, since the other operators may be the cause.
   *
   * @returns undefined when no other operator works on this Hub
   */
  report(context: HubContext): string | undefined {
    const { clock, log, settings } = this.services;
    const { hub, conditions } = context;
    const own = `${settings.podNamespace}/${settings.leaseName}`;
    const present = conditionOf(hub, 'OnlyOperator')?.message.split(SEPARATOR) ?? [];
    const others = present.filter((each) => each !== own).slice(0, MOST - 1);
    const removedAt = this.removals.get(hub);
    const isFirst = removedAt === undefined;
    const isRemoval = isFirst || clock.monotonic() - removedAt >= REMOVAL_INTERVAL;
    if (isRemoval) this.removals.set(hub, clock.monotonic());
    conditions['OnlyOperator'] = listOf(isRemoval ? [own] : [...others, own]);
    // In the first reconcile of this process the list may still name an operator that has since been
    // replaced.
    if (others.length === 0 || isFirst) return undefined;
    requeueAfter(context, REMOVAL_INTERVAL);
    const names = [...others, own].sort().join(' and ');
    if (isRemoval) log.warn(hubFields(hub, others), 'another operator works on this Hub');
    return `The operators with the leases ${names} work on this Hub, and undo each other's work: uninstall all but one, or give them different namespaces. kubectl hub doctor names their Deployments.`;
  }
}

function listOf(leases: readonly string[]): ConditionValue {
  const message = [...leases].sort().join(SEPARATOR);
  return leases.length === 1
    ? condition('True', 'OneOperator', message)
    : condition('False', 'SeveralOperators', message);
}

const hubFields = ({ metadata: { namespace, name } }: Hub, others: readonly string[]) => ({
  namespace,
  name,
  others: others.join(', '),
});

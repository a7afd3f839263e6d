import type { Hub } from '../../kinds';
import { conditionOf } from '../../runtime/conditions';
import { condition, type ConditionValue } from '../../runtime/outcome';
import { PerHub } from '../hub-connection/per-hub';
import type { Services } from '../services';
import { type HubContext, requeueAfter } from './steps';

/** Milliseconds between two removals. An operator that still works on a Hub names itself again within a resync. */
const REMOVAL_INTERVAL = 15 * 60_000;
/** Leases in the message, which is bounded. */
const MOST = 4;
const SEPARATOR = ', ';

type OperatorServices = Pick<Services, 'cache' | 'clock' | 'log' | 'settings'>;

/**
 * Names the operators that work on a Hub, each by its lease, in the condition `OnlyOperator` (rules.md, "Leader election"). Two with different
 * leases undo each other's work without an error. Each adds itself, and removes the others now and then: one that is gone does not
 * come back. All write the same list and the same sentence, so that they do not fight about these as well. The message of the
 * condition is the list: a field of its own would be refused by the definitions of an older version.
 */
export class OtherOperators {
  /** When the others were removed last, by the monotonic clock. */
  private readonly removals: PerHub<number>;

  constructor(private readonly services: OperatorServices) {
    this.removals = new PerHub(services.cache);
  }

  /** The sentence that `Ready` adds, of a hub that is not ready as well: that may be the work of the others. Undefined: there are none. */
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
    // At the first look the list may be that of an operator that was here before.
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

import type { Condition } from '../kinds/condition';
import type { ConditionType, ReadyReason, Reason } from '../kinds/reasons';
import type { EventSpec } from './event-spec';
import type { Priority } from './priority';

/**
 * The outcome of a reconcile. A sync module that lacks a prerequisite returns `waiting`, which requeues after a fixed
 * time, without error and without backoff (rules.md, "Waiting is not an error"). Only unexpected errors are thrown.
 */
export type Outcome = Ready | Waiting | Stalled;

interface Common {
  /** Reason of the condition `Ready`. */
  readonly reason: ReadyReason;
  /** A sentence: what happened, which field or object, what to do. */
  readonly message: string;
  /** Fields of `status` to set; `null` removes one. All others stay. */
  readonly status?: Readonly<Record<string, unknown>>;
  /** Further conditions by type. `null` removes one; one that was read is kept for this generation. Others stay. */
  readonly conditions?: Readonly<Partial<Record<ConditionType, ConditionValue | Condition | null>>>;
  readonly events?: readonly EventSpec[];
  /** The hub was not reached: a requested full reconcile is still to be done. */
  readonly requestPending?: boolean;
}

/** The parts of a condition that a sync module decides; the runtime adds the rest. */
export type ConditionValue = Pick<Condition, 'status' | 'message'> & { readonly reason: Reason };

export const condition = (status: Condition['status'], reason: Reason, message: string): ConditionValue => ({
  status,
  reason,
  message,
});

/** The observed state equals the desired one. */
export interface Ready extends Common {
  readonly type: 'Ready';
  /** Milliseconds until the next reconcile, when sooner than the resync. */
  readonly after?: number;
}

/** A prerequisite is missing, or an operation is in progress. */
export interface Waiting extends Common {
  readonly type: 'Waiting';
  /** Milliseconds until the next reconcile. A change of a dependency comes sooner. */
  readonly after: number;
  /** Priority of the next reconcile; default: change. */
  readonly priority?: Priority;
  /** The state is likely to pass within `after`, or another resource reports it: status stays as it is. */
  readonly unreported?: boolean;
  /** An operation runs that usually ends soon: while the operator is busy, status waits for its result for a while. */
  readonly brief?: boolean;
}

/** Only the user or the hub can help. Reconciled again when one of them changes something, and at resync. */
export interface Stalled extends Common {
  readonly type: 'Stalled';
  /** Milliseconds until the next reconcile, when sooner than the resync. */
  readonly after?: number;
}

type Details = Omit<Common, 'reason' | 'message'>;

export const ready = (
  reason: ReadyReason,
  message: string,
  details: Details & { after?: number } = {},
): Ready => ({
  type: 'Ready',
  reason,
  message,
  ...details,
});

export const waiting = (
  reason: ReadyReason,
  message: string,
  after: number,
  details: Details & Pick<Waiting, 'priority' | 'unreported' | 'brief'> = {},
): Waiting => ({
  type: 'Waiting',
  reason,
  message,
  after,
  ...details,
});

export const stalled = (
  reason: ReadyReason,
  message: string,
  details: Details & { after?: number } = {},
): Stalled => ({
  type: 'Stalled',
  reason,
  message,
  ...details,
});

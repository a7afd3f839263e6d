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
  /** Fields of `status` to set; `null` removes one. All others are unchanged. */
  readonly status?: Readonly<Record<string, unknown>>;
  /**
   * Further conditions by type. `null` removes a condition. A condition that was read before is kept for this
   * generation. Conditions that are not listed are unchanged.
   */
  readonly conditions?: Readonly<Partial<Record<ConditionType, ConditionValue | Condition | null>>>;
  readonly events?: readonly EventSpec[];
  /** Whether a requested full reconcile stays pending, because the hub was not reached. */
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
  /** Milliseconds until the next reconcile, if that is sooner than the resync. */
  readonly after?: number;
}

/** A prerequisite is missing, or an operation is in progress. */
export interface Waiting extends Common {
  readonly type: 'Waiting';
  /** Milliseconds until the next reconcile. A change of a dependency causes one sooner. */
  readonly after: number;
  /** Priority of the next reconcile. Default: change. */
  readonly priority?: Priority;
  /**
   * Whether status is not written: the state is likely to end within `after`, or another resource reports it.
   */
  readonly unreported?: boolean;
  /**
   * Whether an operation runs that usually ends soon: while the operator is busy, status is written only with
   * its result or after a delay.
   */
  readonly brief?: boolean;
}

/**
 * Only the user or the hub can resolve the state. The next reconcile follows a change by one of them, or the
 * resync.
 */
export interface Stalled extends Common {
  readonly type: 'Stalled';
  /** Milliseconds until the next reconcile, if that is sooner than the resync. */
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

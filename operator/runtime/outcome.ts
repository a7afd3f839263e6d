import type { Condition } from '../kinds/condition';
import type { ConditionType, ReadyReason, Reason } from '../kinds/reasons';
import type { EventSpec } from './event-spec';

/**
 * What a pass over one resource came to. "A missing prerequisite is not an error" (spec.md, "What the service does",
 * 4) lives here: a sync module that lacks something returns `waiting`, which is timed, raises no error and does not
 * back off. Only what nobody foresaw is thrown.
 */
export type Outcome = Ready | Waiting | Stalled;

interface Common {
  /** Reason of the condition `Ready`. */
  readonly reason: ReadyReason;
  /** One sentence for a person. */
  readonly message: string;
  /** Fields of `status` of this kind to set; `null` takes one away. Others keep their value. */
  readonly status?: Readonly<Record<string, unknown>>;
  /** Further conditions by type. `null` removes one; one that was read is kept for this generation. Others stay. */
  readonly conditions?: Readonly<Partial<Record<ConditionType, ConditionValue | Condition | null>>>;
  readonly events?: readonly EventSpec[];
}

/** What a sync module says of a condition; the runtime adds the rest. */
export type ConditionValue = Pick<Condition, 'status' | 'message'> & { readonly reason: Reason };

/** The world is as the resource says. */
export interface Ready extends Common {
  readonly type: 'Ready';
  /** Milliseconds until the next look, when sooner than the resync. */
  readonly after?: number;
}

/** Something is not there yet, or under way. */
export interface Waiting extends Common {
  readonly type: 'Waiting';
  /** Milliseconds until the next look, if nothing that the resource depends on changes before. */
  readonly after: number;
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
  details: Details = {},
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

import type { Change } from '../places';

/** A CEL rule with changes of the full sample that it accepts and that it refuses. */
export interface RuleCase {
  readonly kind: string;
  /** Part of the rule's message. */
  readonly says: string;
  /** Path of the field in the refusal. */
  readonly field: string;
  readonly good: readonly Change[];
  readonly bad: readonly Change[];
  /** The changes update a stored object: the full sample, or the full sample with these changes. */
  readonly update?: true | Change;
  /** Set when the sample is that of an external hub. */
  readonly external?: true;
}

import type { Change } from '../places';

/** A CEL rule with changes of the full sample that it accepts and that it refuses. */
export interface RuleCase {
  readonly kind: string;
  /** Part of the rule's message. */
  readonly says: string;
  /** The field that the refusal names. */
  readonly field: string;
  readonly good: readonly Change[];
  readonly bad: readonly Change[];
  /** The changes are made to a stored object: the full sample, or that with these changes. */
  readonly update?: true | Change;
  /** The sample is that of an external hub. */
  readonly external?: true;
}

/** A change by a user or by the hub is reconciled before a resync. */
export type Priority = 'change' | 'resync';

export const strongest = (one: Priority | undefined, other: Priority): Priority =>
  one === 'change' ? 'change' : other;

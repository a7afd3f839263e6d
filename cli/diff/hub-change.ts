import type { FieldDiff } from '../../operator/sync/objects/field-diff';

/** The changes that applying a resource would make in its hub. */
export interface HubChange {
  /**
   * `waits`: the resource needs an object that does not exist yet. `refused`: the operator would report the
   * resource as Stalled. `unknown`: the hub could not be read.
   */
  readonly action: 'create' | 'update' | 'none' | 'waits' | 'refused' | 'unknown';
  readonly fields: readonly FieldDiff[];
  /** Remarks, one sentence each. */
  readonly notes: readonly string[];
}

export const isChange = ({ action, notes }: HubChange): boolean => action !== 'none' || notes.length > 0;

export const DRIFT_IS_LEFT = 'It was changed in the hub, and driftPolicy is Warn: the change is kept.';

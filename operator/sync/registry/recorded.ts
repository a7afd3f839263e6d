import { registryName } from '../../kinds/ids';
import { conditionOf } from '../../runtime/conditions';
import { appliedFields } from './desired';
import type { EntryReconcile } from './entry-reconcile';

// The state of an entry in status, before and after it is written.

/**
 * Status says that the entry is about to be created. A retry of a rejected entry is not announced again: that would be
 * two writes of status each time.
 */
export function isAnnounced(reconcile: Pick<EntryReconcile, 'resource' | 'desired'>): boolean {
  const { metadata, spec, status } = reconcile.resource;
  if (status?.['pendingName'] !== registryName(spec.name) || !isRecorded(reconcile)) return false;
  const ready = conditionOf(reconcile.resource, 'Ready');
  return ready?.reason !== 'RejectedByHub' || ready.observedGeneration === metadata.generation;
}

/** Status has all fields that a write would set, so that they can be cleared even after a crash. */
export function isRecorded({ resource, desired }: Pick<EntryReconcile, 'resource' | 'desired'>): boolean {
  return desired.declared.every((field) => appliedFields(resource).includes(field));
}

/** `status.appliedFields` before a write: those that were set, and those that are about to be. */
export function recordedFields({
  resource,
  desired,
}: Pick<EntryReconcile, 'resource' | 'desired'>): readonly string[] {
  return [...new Set([...appliedFields(resource), ...desired.declared])].sort();
}

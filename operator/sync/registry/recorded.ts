import { registryName } from '../../kinds/ids';
import { conditionOf } from '../../runtime/conditions';
import { appliedFields } from './desired';
import type { RegistryWork } from './entry-reconcile';

// What status says of an entry before and after it is written.

/** The hub had accepted what is desired now. */
export function isAccepted({ resource, desired }: Pick<RegistryWork, 'resource' | 'desired'>): boolean {
  return resource.status?.['appliedHash'] === desired.hash;
}

/**
 * Status says that the entry is about to be created. A retry of what the hub rejected is not announced again: that would be
 * two writes of status each time.
 */
export function isAnnounced(work: Pick<RegistryWork, 'resource' | 'desired'>): boolean {
  const { metadata, spec, status } = work.resource;
  if (status?.['pendingName'] !== registryName(spec.name) || !isRecorded(work)) return false;
  const ready = conditionOf(work.resource, 'Ready');
  return ready?.reason !== 'RejectedByHub' || ready.observedGeneration === metadata.generation;
}

/** Status has all fields that a write would set, so that they can be cleared even after a crash. */
export function isRecorded({ resource, desired }: Pick<RegistryWork, 'resource' | 'desired'>): boolean {
  return desired.declared.every((field) => appliedFields(resource).includes(field));
}

/** `status.appliedFields` before a write: those that were set, and those that are about to be. */
export function recordedFields({
  resource,
  desired,
}: Pick<RegistryWork, 'resource' | 'desired'>): readonly string[] {
  return [...new Set([...appliedFields(resource), ...desired.declared])].sort();
}

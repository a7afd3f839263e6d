import { isDeepStrictEqual } from 'node:util';
import type { CustomResource } from '../kinds/resource';

/**
 * The fields of status that describe the object in the hub, such as its id, without those about the
 * reconciles of the resource, such as its progress. A resource that takes over the object gets them.
 */
export function objectRecord({ status = {} }: CustomResource): Readonly<Record<string, unknown>> {
  const {
    conditions: _,
    observedGeneration: __,
    lastHandledReconcileAt: ___,
    phase: ____,
    ...record
  } = status;
  return record;
}

/**
 * The resource that takes over the object of a deleted one (rules.md, "Ownership of objects in the hub"): the
 * first of those with the same identity that is not being deleted. A resource that already has another object,
 * such as one that was renamed to this identity, does not take it over.
 */
export function successorAmong<R extends CustomResource>(deleted: R, others: readonly R[]): R | undefined {
  const record = objectRecord(deleted);
  if (isDeepStrictEqual(record, {})) return undefined;
  return others
    .filter(({ metadata }) => metadata.deletionTimestamp === undefined)
    .find((other) => [{}, record].some((each) => isDeepStrictEqual(objectRecord(other), each)));
}

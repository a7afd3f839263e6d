import type { CustomResource } from '../kinds/resource';

/**
 * The fields of status that describe the object in the hub, such as its id, without those about the
 * reconciles of the resource. A resource that takes over the object gets them.
 */
export function objectRecord({ status = {} }: CustomResource): Readonly<Record<string, unknown>> {
  const { conditions: _, observedGeneration: __, lastHandledReconcileAt: ___, ...record } = status;
  return record;
}

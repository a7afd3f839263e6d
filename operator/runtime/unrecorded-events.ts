import { isDeepStrictEqual } from 'node:util';
import type { CustomResource } from '../kinds/resource';
import type { EventSpec } from './event-spec';
import { type ObjectKey, objectKeyOf } from './object-key';
import type { Outcome } from './outcome';

/**
 * The events of the last reconciles whose status could not be written. Each of them was emitted, and the retry may
 * have the same outcome again: its events are then not about anything new.
 */
export class UnrecordedEvents {
  private readonly emitted = new Map<
    ObjectKey,
    { readonly uid: string; readonly events: readonly EventSpec[] }
  >();

  /** The events of an outcome, except those that the failed reconcile before has emitted. */
  newOf(resource: CustomResource, { events = [] }: Outcome): readonly EventSpec[] {
    const last = this.emitted.get(objectKeyOf(resource));
    if (last?.uid !== resource.metadata.uid) return events;
    return events.filter((event) => !last.events.some((each) => isDeepStrictEqual(each, event)));
  }

  /** To be called when the status with an outcome could not be written. */
  keep(resource: CustomResource, { events = [] }: Outcome): void {
    const { uid } = resource.metadata;
    if (events.length > 0) this.emitted.set(objectKeyOf(resource), { uid, events });
    else this.forget(objectKeyOf(resource));
  }

  /** To be called when a reconcile of the resource has succeeded. */
  forget(key: ObjectKey): void {
    this.emitted.delete(key);
  }
}

import type { HubClient } from '../../client/hub-client';
import type { Redact } from '../../client/connection/redact';
import type { Resource } from '../../kinds';
import type { CustomResource } from '../../kinds/resource';
import type { EventSpec } from '../../runtime/event-spec';
import type { Outcome, Waiting } from '../../runtime/outcome';
import type { ReconcileContext } from '../../runtime/sync-module';

/** A resource that has an object in a hub. */
export type Child = CustomResource &
  Resource<{
    readonly hubRef: { readonly name: string };
    readonly suspend?: boolean;
    readonly driftPolicy?: 'Correct' | 'Warn';
    readonly deletionPolicy?: 'Delete' | 'Orphan';
  }>;

/** The part of a sync module that needs a usable hub. */
export interface ChildModule<R extends Child> {
  sync(resource: R, client: HubClient, context: ReconcileContext): Promise<Outcome>;
  /**
   * Removes the object from the hub, if it is on the hub's present volume. Never called in dry-run. Resolves
   * with events to emit, or with Waiting while the removal is in progress.
   */
  remove(resource: R, client: HubClient, context: ReconcileContext): Promise<readonly EventSpec[] | Waiting>;
  /**
   * Reports whether the object, or part of it, is stored in the cluster and so survives the loss of the hub's
   * volume. If absent, it is never there.
   */
  isOutsideVolume?(resource: R, client: HubClient): Promise<boolean>;
  /**
   * Ends work in progress for a resource that is held or deleted, or whose object passes to another resource.
   *
   * @returns Waiting while the work still runs
   */
  release?(resource: R, client: HubClient): Waiting | undefined;
  /**
   * Reports whether work for the resource is in progress in the hub, or its result is not recorded yet. If
   * absent, there never is.
   */
  isWorking?(resource: R, client: HubClient): boolean;
  /**
   * True if other objects in the hub refer to the object by an id that a recreated object would not get, for
   * example devices to their area. The removal of such an object waits for a successor.
   */
  readonly isReferenced?: boolean;
  /**
   * The object that a removal deletes, according to status, such as `automation porch`. Undefined if there is
   * none.
   *
   * @param client client of the hub, whose state may have more details; undefined if the hub was never
   * contacted
   */
  objectOf(resource: R, client: HubClient | undefined): string | undefined;
  /** Masks the secrets of the resource in a text. If absent, only the secrets of its Hub are masked. */
  redactorOf?(resource: R, client: HubClient): Redact;
  /** Forgets a deleted resource. Its object may still be in the hub. */
  forget(resource: R, client: HubClient): void;
}

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
   * Removes the object from the hub, which has it on its present volume. Never called in dry-run. Resolves with events to
   * emit, or with Waiting while it is in progress.
   */
  remove(resource: R, client: HubClient, context: ReconcileContext): Promise<readonly EventSpec[] | Waiting>;
  /** The object is, whole or in part, in the cluster: it is there also after the loss of the hub's volume. Absent: never. */
  isOutsideVolume?(resource: R, client: HubClient): Promise<boolean>;
  /**
   * Ends the work that runs for a resource that is held or deleted, or whose object passes to another one. Waiting: it still
   * runs.
   */
  release?(resource: R, client: HubClient): Waiting | undefined;
  /** Whether work runs in the hub for the resource, or its result is to be recorded. Absent: never. */
  isWorking?(resource: R, client: HubClient): boolean;
  /**
   * Others in the hub refer to the object by an id that a new one does not get, such as devices to their area: its removal
   * waits for a successor.
   */
  readonly isReferenced?: boolean;
  /**
   * The object that a removal deletes, by status, such as `automation porch`; undefined: none.
   *
   * @param client of the hub, whose state may know more; undefined: it was never contacted
   */
  objectOf(resource: R, client: HubClient | undefined): string | undefined;
  /** Masks the secrets of the resource in a text. Absent: those of its Hub alone. */
  redactorOf?(resource: R, client: HubClient): Redact;
  /** Forgets a resource that is gone. Its object may still be in the hub. */
  forget(resource: R, client: HubClient): void;
}

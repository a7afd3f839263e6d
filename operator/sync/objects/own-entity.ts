import type { HubClient } from '../../client/hub-client';
import { ownEntityFields } from '../../kinds/status';
import type { EventSpec } from '../../runtime/event-spec';
import type { Outcome, Ready } from '../../runtime/outcome';
import type { ReconcileContext } from '../../runtime/sync-module';
import type { Child } from './child';

/**
 * The settings of the entity that the hub creates for the object of a resource (rules.md, "Settings of
 * entities and devices").
 */
export interface OwnEntitySettings {
  /**
   * Writes the settings of `spec.entity` to the entity.
   *
   * @param made outcome of the object, which the hub uses
   * @param registryId id of the entity's registry entry; undefined if not known yet
   * @returns `made` with the status of the settings, when the entity has them
   */
  settle(
    made: Ready,
    registryId: string | undefined,
    resource: Child,
    client: HubClient,
    context: ReconcileContext,
  ): Promise<Outcome>;
  /** Restores the former settings of the entity, when its object stays in the hub without a resource. */
  putBack(resource: Child, client: HubClient): Promise<readonly EventSpec[]>;
  /** The settings that a deletion restores, as text for events. Undefined if there are none. */
  objectOf(resource: Child): string | undefined;
  forget(resource: Child, client: HubClient): void;
}

/** Status fields that record the settings of the entity. */
export const ownEntityRecord: readonly string[] = Object.keys(ownEntityFields);

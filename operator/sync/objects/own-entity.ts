import type { HubClient } from '../../client/hub-client';
import { ownEntityFields } from '../../kinds/status';
import type { EventSpec } from '../../runtime/event-spec';
import type { Outcome, Ready } from '../../runtime/outcome';
import type { ReconcileContext } from '../../runtime/sync-module';
import type { Child } from './child';

/** The settings of the entity that the hub makes for the object of a resource (rules.md, "Settings of entities and devices"). */
export interface OwnEntitySettings {
  /**
   * Brings the settings of the entity to those of `spec.entity`.
   *
   * @param made outcome of the object, which the hub uses
   * @param registryId id of the entity's entry; undefined: not known yet
   * @returns that outcome, if the entity has the settings
   */
  settle(
    made: Ready,
    registryId: string | undefined,
    resource: Child,
    client: HubClient,
    context: ReconcileContext,
  ): Promise<Outcome>;
  /** The object stays in the hub without its resource: its entity gets the former settings. */
  putBack(resource: Child, client: HubClient): Promise<readonly EventSpec[]>;
  /** The settings that a deletion puts back, for people; undefined: there are none. */
  objectOf(resource: Child): string | undefined;
  forget(resource: Child, client: HubClient): void;
}

/** Fields of status that tell of the settings. */
export const ownEntityRecord: readonly string[] = Object.keys(ownEntityFields);

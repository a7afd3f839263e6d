import { truncate } from '../../base/truncate';
import type { ReloadResult } from '../../client/config-entities/reload-retry';
import type { ConfigEntityKind, EntityPayload } from '../../client/connection/config-entity';
import { HubRejected } from '../../client/connection/errors';
import type { Stalled } from '../../runtime/outcome';
import type { Child } from '../objects/child';
import type { ConfigEntitySpec, EntityType, EntityWork } from './entity-type';
import type { LoadStep } from './load';
import type { Different, Observation } from './observation';

/** The state before a write. */
export interface Replaced {
  /** Value of `status.appliedHash` of the resource. */
  readonly accepted: string | undefined;
  /** The object in the other place, if it exists and differs from the written one. */
  readonly elsewhere?: EntityPayload | undefined;
  /** Uid of the resource, if its status does not record the object yet. */
  readonly claimedBy?: string | undefined;
}

/** The next step for an object that is not in the state that its place requires. */
export type Remedy =
  /**
   * The definition may be missing in this place and is written again. `kept`: keys of the present definition
   * that are kept.
   */
  | { readonly type: 'WriteAgain'; readonly kept: EntityPayload }
  /** The other place has an object with the same id, which the hub uses. */
  | { readonly type: 'Correct'; readonly observation: Different }
  /** The hub does not load the definition, for this reason. The former definition has to be restored. */
  | { readonly type: 'Withdraw'; readonly reason: string; readonly withdraw: () => Promise<void> };

/**
 * One of the two places that definitions of a hub's objects can be in: the hub's own files, which its API
 * writes, or files that its pod mounts (rules.md, "Delivery").
 */
export interface Place {
  /**
   * Value of `status.delivery` for an object that is only in this place. Null if it may be in the hub's own
   * file.
   */
  readonly delivery: 'File' | null;
  /**
   * True if the hub and its users also write to this place, and the hub loads writes without a reload. False
   * if only the operator writes.
   */
  readonly isShared: boolean;
  /** True if the definitions are lost with the volume of the hub. */
  readonly isOnVolume: boolean;

  /** Compares the desired definition with the present one, in either place. */
  observe<R extends Child, S extends ConfigEntitySpec>(
    entityType: EntityType<R, S>,
    work: EntityWork<R, S>,
  ): Promise<Observation>;

  /**
   * The outcome for a definition that cannot be in this place.
   *
   * @returns undefined when it can
   */
  refusal(kind: ConfigEntityKind, id: string, payload: EntityPayload): Stalled | undefined;

  /**
   * Creates or replaces a definition. Resolves once the hub has it.
   *
   * @param payload returns the definition to write; if undefined, nothing is written
   * @returns whether the definition was written
   * @throws HubRejected with the hub's validation error; HubFailed
   */
  write(
    kind: ConfigEntityKind,
    id: string,
    payload: () => EntityPayload | undefined,
    replaced: Replaced,
  ): Promise<boolean>;

  /**
   * Makes the hub load the definitions of a kind.
   *
   * @param isAfterWrite a write has just ended
   */
  reload(kind: ConfigEntityKind, isAfterWrite: boolean): Promise<ReloadResult>;

  /** The next step for a definition that is in this place but not in use. */
  loadStep<R extends Child, S extends ConfigEntitySpec>(
    entityType: EntityType<R, S>,
    work: EntityWork<R, S>,
  ): LoadStep | Promise<LoadStep>;

  /**
   * Handles an observation of how the hub uses a definition in this place.
   *
   * @param step the next step for a definition that is not in use
   * @returns undefined when the object stays as it is
   */
  verify<R extends Child, S extends ConfigEntitySpec>(
    entityType: EntityType<R, S>,
    work: EntityWork<R, S>,
    observation: Observation,
    step?: LoadStep,
  ): Promise<Remedy | undefined>;

  /**
   * Takes out an object that the other place has too.
   *
   * @param mayLeave called immediately before; if it returns false, the object stays
   * @returns the result of the reload after which the hub uses the other definition; undefined if the hub
   * already used it
   */
  leave(kind: ConfigEntityKind, id: string, mayLeave: () => boolean): Promise<ReloadResult | undefined>;
}

/**
 * A reconcile with the place that its definition should be in. The place does not change until the operation
 * that the reconcile starts has ended.
 */
export interface PlacedWork<
  R extends Child = Child,
  S extends ConfigEntitySpec = ConfigEntitySpec,
> extends EntityWork<R, S> {
  readonly place: Place;
}

/** Maximum number of characters of the hub's message about a definition, since it may quote all of it. */
const LONGEST_WORDS = 500;

/**
 * A definition was taken out again, since the hub does not load it. Another attempt would remove the former
 * definition for some time, so time alone causes none.
 */
export class TakenBack extends HubRejected {
  constructor(words: string) {
    super('400', truncate(words, LONGEST_WORDS));
  }
}

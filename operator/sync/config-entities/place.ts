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
  /** `status.appliedHash` of the resource. */
  readonly accepted: string | undefined;
  /** The object in the other place, which is left for this one; undefined: there is none, or it is equal. */
  readonly elsewhere?: EntityPayload | undefined;
  /** Uid of the resource, whose status does not record the object yet. */
  readonly claimedBy?: string | undefined;
}

/** The next step for an object that is not as its place needs it. */
export type Remedy =
  /** The definition may not be here yet: it is written again. `kept`: keys of the present one that stay. */
  | { readonly type: 'WriteAgain'; readonly kept: EntityPayload }
  /** The other place has an object with its id, which the hub uses. */
  | { readonly type: 'Correct'; readonly observation: Different }
  /** The hub does not load it, for this reason: the definition before it takes its place again. */
  | { readonly type: 'Withdraw'; readonly reason: string; readonly withdraw: () => Promise<void> };

/**
 * One of the two places of a hub that have definitions of objects: its own files, which its API writes, or files that its pod
 * mounts (rules.md, "Delivery").
 */
export interface Place {
  /** `status.delivery` of an object that is nowhere else; null: it may be in the hub's own file. */
  readonly delivery: 'File' | null;
  /** The hub and its users write here as well, and the hub loads a write by itself. False: only the operator writes. */
  readonly isShared: boolean;
  /** The definitions are lost with the volume of the hub. */
  readonly isOnVolume: boolean;

  /** Compares the desired definition with the present one, wherever that is. */
  observe<R extends Child, S extends ConfigEntitySpec>(
    entityType: EntityType<R, S>,
    work: EntityWork<R, S>,
  ): Promise<Observation>;

  /** The outcome of a definition that cannot be here; undefined: it can. */
  refusal(kind: ConfigEntityKind, id: string, payload: EntityPayload): Stalled | undefined;

  /**
   * Creates or replaces a definition. Resolves once the hub has it.
   *
   * @param payload if it returns undefined, nothing is written
   * @returns whether it was written
   * @throws HubRejected with the hub's validation error; HubFailed
   */
  write(
    kind: ConfigEntityKind,
    id: string,
    payload: () => EntityPayload | undefined,
    replaced: Replaced,
  ): Promise<boolean>;

  /**
   * Has the hub load the definitions of a kind.
   *
   * @param isAfterWrite a write has just ended
   */
  reload(kind: ConfigEntityKind, isAfterWrite: boolean): Promise<ReloadResult>;

  /** The next step for a definition that is here and not in use. */
  loadStep<R extends Child, S extends ConfigEntitySpec>(
    entityType: EntityType<R, S>,
    work: EntityWork<R, S>,
  ): LoadStep | Promise<LoadStep>;

  /**
   * Takes note of how the hub uses a definition that is here.
   *
   * @param step of one that is not in use
   * @returns undefined: the object stays as it is
   */
  verify<R extends Child, S extends ConfigEntitySpec>(
    entityType: EntityType<R, S>,
    work: EntityWork<R, S>,
    observation: Observation,
    step?: LoadStep,
  ): Promise<Remedy | undefined>;

  /**
   * Takes out an object that the other place has as well.
   *
   * @param mayLeave asked right before; false: it stays
   * @returns the reload by which the hub uses the other one; undefined: the hub has used that before
   */
  leave(kind: ConfigEntityKind, id: string, mayLeave: () => boolean): Promise<ReloadResult | undefined>;
}

/** A reconcile with the place where its definition is to be: that stays the same to the end of the operation that it starts. */
export interface PlacedWork<
  R extends Child = Child,
  S extends ConfigEntitySpec = ConfigEntitySpec,
> extends EntityWork<R, S> {
  readonly place: Place;
}

/** Characters of the hub's words about a definition, which may quote all of it. */
const LONGEST_WORDS = 500;

/** A definition was taken out again, since the hub does not load it. Not tried again with time: the former one would be out for a while. */
export class TakenBack extends HubRejected {
  constructor(words: string) {
    super('400', truncate(words, LONGEST_WORDS));
  }
}

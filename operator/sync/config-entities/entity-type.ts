import type { ReconcileContext } from '../../runtime/sync-module';
import type { Child } from '../objects/child';
import type { ObjectReconcile } from '../objects/object-sync';
import type { ObjectType } from '../objects/ownership';
import type { CachedEntity } from './entity-cache';
import type { ConfigEntityKind, EntityPayload } from '../../client/connection/config-entity';
import type { RegistryEntity } from '../../client/connection/api-types';

/** The common fields of the specs of the three kinds, with their defaults. */
export interface ConfigEntitySpec {
  readonly autoReload: boolean;
  readonly driftPolicy: 'Correct' | 'Warn';
  readonly deletionPolicy?: 'Delete' | 'Orphan';
}

/** The inputs of one reconcile of an automation, scene or script. */
export interface EntityWork<
  R extends Child = Child,
  S extends ConfigEntitySpec = ConfigEntitySpec,
> extends ObjectReconcile<R> {
  readonly context: ReconcileContext;
  readonly cached: CachedEntity;
  readonly spec: S;
  /** Effective id (rules.md, "Effective ids"). */
  readonly id: string;
  /** The desired payload. */
  readonly payload: EntityPayload;
  readonly hash: string;
}

/**
 * The running definition, as far as the hub returns it without reading its file:
 *
 * - `Whole`: the complete definition, and the definition that the hub would return if it ran the desired
 *   payload.
 * - `Part`: too little for a complete comparison, and whether this part matches the desired payload.
 *   `revision` changes whenever the hub loads the definition again.
 * - `None`: the entity is registered, but the hub runs nothing for it.
 * - `Invalid`: the hub has loaded and disabled the definition, for this reason.
 */
export type LiveConfig =
  | { readonly type: 'Whole'; readonly actual: EntityPayload; readonly desired: EntityPayload }
  | {
      readonly type: 'Part';
      readonly matches: boolean;
      readonly revision?: string;
      /** The whole running payload, if the hub cannot fill the desired inputs into the blueprint. */
      readonly actual?: EntityPayload;
    }
  | { readonly type: 'None' }
  | { readonly type: 'Invalid'; readonly error: string };

/** The result of correcting the state of an entity. */
export interface StateCorrection {
  /** Fields of `status` that record the changes. */
  readonly status?: Readonly<Record<string, unknown>>;
  /** A sentence about a change in the hub that was reverted. */
  readonly corrected?: string;
  /**
   * Sentences about a change in the hub that is left for `after` milliseconds or, with `driftPolicy: Warn`,
   * permanently.
   */
  readonly left?: { readonly message: string; readonly after?: number };
}

export interface StateContext {
  /** False while the hub runs an earlier payload. */
  readonly inUse: boolean;
  /** The time of the reconcile, by the monotonic clock. */
  readonly now: number;
}

/** The parts of the sync that differ between automations, scenes and scripts. */
export interface EntityType<R extends Child, S extends ConfigEntitySpec> extends ObjectType {
  readonly type: ConfigEntityKind;
  /** True if the operator reloads the hub after a write, which `ReloadReady` reports (rules.md, "Reload"). */
  readonly reloads: boolean;
  id(resource: R): string;
  /** The spec with the default of every absent field. */
  spec(resource: R): S;
  /**
   * Finds an error of the spec that the schema cannot detect.
   *
   * @returns a sentence, undefined when there is none
   */
  validate?(spec: S): string | undefined;
  payload(spec: S): EntityPayload;
  /** The name from which the hub derives the entity id of a new object. */
  nameOf(spec: S, id: string): string;
  /**
   * The keys in the hub that correspond to fields of the spec. Other keys of a stored object are kept when it
   * is written.
   */
  readonly keys: readonly string[];
  /** Former names of keys that a stored object may have. */
  readonly renamed?: Readonly<Record<string, string>>;
  /**
   * The normal form of a definition with these keys: definitions with the same meaning for the hub have the
   * same normal form.
   */
  normal(definition: EntityPayload, id: string): EntityPayload;
  readLive(work: EntityWork<R, S>, entity: RegistryEntity): Promise<LiveConfig>;
  /** Further fields of `status`. */
  status?(spec: S): Readonly<Record<string, unknown>>;
  /** Reports whether the entity, if disabled in the hub, has to be enabled now. */
  shouldEnable?(work: EntityWork<R, S>): boolean;
  /** Makes the state of the entity match the spec. */
  ensureState?(
    work: EntityWork<R, S>,
    entity: RegistryEntity,
    context: StateContext,
  ): Promise<StateCorrection>;
}

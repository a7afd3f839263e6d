import type { ConfigEntityKind, EntityPayload } from '../../client/config-entities';
import type { RegistryEntity } from '../../client/entity-registry';
import type { HubClient } from '../../client/hub-client';
import type { KindDefinition } from '../../kinds/kind';
import type { ReadyReason } from '../../kinds/reasons';
import type { ReconcileContext } from '../../runtime/sync-module';
import type { Child } from '../child';
import type { CachedEntity } from './entity-cache';

/** What the specs of the entityType have in common, with their defaults. */
export interface ConfigEntitySpec {
  readonly autoReload: boolean;
  readonly driftPolicy: 'Correct' | 'Warn';
  readonly deletionPolicy?: 'Delete' | 'Orphan';
}

/** One pass over one automation, scene or script. */
export interface EntityWork<R extends Child = Child, S extends ConfigEntitySpec = ConfigEntitySpec> {
  readonly resource: R;
  readonly client: HubClient;
  readonly context: ReconcileContext;
  readonly cached: CachedEntity;
  readonly spec: S;
  /** Effective id: under which the hub is to have it. */
  readonly id: string;
  /** What the hub is to have. */
  readonly payload: EntityPayload;
  readonly hash: string;
}

/**
 * What the hub's memory shows of a definition: it, and what it would be if it were as wanted; or that it is hidden
 * (the hub does not show the whole definition, and what it does show is right); or that it is not there like that.
 */
export type LiveConfig =
  { readonly actual: EntityPayload; readonly desired: EntityPayload } | 'hidden' | undefined;

/** What a kind's last step found to have been changed by somebody in the hub, in a sentence. */
export interface StateCorrection {
  /** It was put back. */
  readonly corrected?: string;
  /** It may only be reported (`driftPolicy: Warn`). */
  readonly mayNotCorrect?: string;
}

/** In what automations, scenes and scripts differ. All else they share. */
export interface EntityType<R extends Child, S extends ConfigEntitySpec> {
  /** The hub's word for the kind. */
  readonly type: ConfigEntityKind;
  readonly definition: KindDefinition;
  /** Field of `status` that holds the id under which it is in the hub. */
  readonly idField: string;
  /** Reason of `Ready`. */
  readonly reason: ReadyReason;
  /** Whether a write is followed by a reload of ours ("Hot-reload with retry", spec.md), and `ReloadReady` tells of it. */
  readonly reloads: boolean;
  id(resource: R): string;
  /** The spec with the default of every absent field. */
  spec(resource: R): S;
  /** What is wrong with a spec that the API server had to accept, in a sentence. */
  validate?(spec: S): string | undefined;
  payload(spec: S): EntityPayload;
  /** A definition as the hub has it in its file, in the form in which we write. */
  normalize?(stored: EntityPayload): EntityPayload;
  readLive(work: EntityWork<R, S>, entity: RegistryEntity): Promise<LiveConfig>;
  /** Further fields of `status`. */
  status?(spec: S): Readonly<Record<string, unknown>>;
  /** Whether its entity is to be enabled now, should it be disabled in the hub. */
  shouldEnable?(work: EntityWork<R, S>): boolean;
  /** What else is to be done once the hub runs it. */
  ensureState?(work: EntityWork<R, S>, entity: RegistryEntity): Promise<StateCorrection>;
}

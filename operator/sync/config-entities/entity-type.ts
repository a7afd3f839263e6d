import type { ConfigEntityKind, EntityBody } from '../../client/config-entities';
import type { RegistryEntity } from '../../client/entity-registry';
import type { HubClient } from '../../client/hub';
import type { KindDefinition } from '../../kinds/kind';
import type { ReconcileContext } from '../../runtime/sync-module';
import type { Child } from '../child';
import type { EntityMemory } from './entity-cache';

/** What the specs of the family have in common, with their defaults. */
export interface ConfigSpec {
  readonly autoReload: boolean;
  readonly driftPolicy: 'Correct' | 'Warn';
  readonly deletionPolicy?: 'Delete' | 'Orphan';
}

/** One pass over one automation, scene or script. */
export interface Work<R extends Child = Child, S extends ConfigSpec = ConfigSpec> {
  readonly resource: R;
  readonly client: HubClient;
  readonly context: ReconcileContext;
  readonly memory: EntityMemory;
  readonly spec: S;
  /** Effective id: under which the hub is to have it. */
  readonly id: string;
  /** What the hub is to have. */
  readonly body: EntityBody;
  readonly hash: string;
}

/**
 * What the hub's memory shows of a definition: it, and what it would be if it were as wanted; or that it is hidden
 * (the hub does not show the whole definition, and what it does show is right); or that it is not there like that.
 */
export type Shown = { readonly present: EntityBody; readonly wanted: EntityBody } | 'hidden' | undefined;

/** What a kind's last step found to have been changed by somebody in the hub, in a sentence. */
export interface Settled {
  /** It was put back. */
  readonly corrected?: string;
  /** It may only be reported (`driftPolicy: Warn`). */
  readonly mayNotCorrect?: string;
}

/** In what automations, scenes and scripts differ. All else they share. */
export interface Family<R extends Child, S extends ConfigSpec> {
  /** The hub's word for the kind. */
  readonly type: ConfigEntityKind;
  readonly definition: KindDefinition;
  /** Field of `status` that holds the id under which it is in the hub. */
  readonly idField: string;
  /** Reason of `Ready`. */
  readonly reason: string;
  /** Whether a write is followed by a reload of ours ("Hot-reload with retry", spec.md), and `ReloadReady` tells of it. */
  readonly reloads: boolean;
  id(resource: R): string;
  /** The spec with the default of every absent field. */
  spec(resource: R): S;
  /** What is wrong with a spec that the API server had to accept, in a sentence. */
  problem?(spec: S): string | undefined;
  body(spec: S): EntityBody;
  /** A definition as the hub has it in its file, in the form in which we write. */
  normalised?(stored: EntityBody): EntityBody;
  shown(work: Work<R, S>, entity: RegistryEntity): Promise<Shown>;
  /** Further fields of `status`. */
  status?(spec: S): Readonly<Record<string, unknown>>;
  /** Whether its entity is to be enabled now, should it be disabled in the hub. */
  enables?(work: Work<R, S>): boolean;
  /** What else is to be done once the hub runs it. */
  settle?(work: Work<R, S>, entity: RegistryEntity): Promise<Settled>;
}

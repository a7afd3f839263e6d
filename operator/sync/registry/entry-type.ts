import type { CollectionType, RegistryType } from '../../client/connection/registry-types';
import type { HubClient } from '../../client/hub-client';
import type { ReadyReason } from '../../kinds/reasons';
import type { Resource } from '../../kinds/resource';
import type { Child } from '../objects/child';
import type { ObjectType } from '../objects/ownership';

/** The description of one kind of registry entry. */
export interface EntryType extends ObjectType {
  /** The registry of the hub. */
  readonly type: RegistryType;
  /** The component of the hub whose entities the entries are: `status.entityId` has their ids. Absent: `config`, without entities. */
  readonly component?: CollectionType;
  /** The optional fields by their names in the spec. Absent in the spec: the hub's value stays. */
  readonly fields: Readonly<Record<string, EntryField>>;
  /** Why a new entry of this name cannot be the resource's, as a sentence; undefined: it can. */
  conflict?(client: HubClient, name: string): Promise<string | undefined>;
}

export interface EntryField {
  /** The field's name in the hub. */
  readonly name: string;
  /** A list without an order. Cleared, it is empty. */
  readonly isSet?: boolean;
  /** The spec has the number as a text. */
  readonly isNumber?: boolean;
  /** The value of the field when it is cleared; absent: null. `kept`: the hub has no way to clear it. */
  readonly cleared?: number | boolean | 'kept';
  /** The spec has names of entries of another registry, the hub has their ids. */
  readonly refersTo?: {
    readonly entryType: EntryType;
    /** Reason of `Ready` while one of them does not exist. */
    readonly reason: ReadyReason;
  };
}

interface EntrySpec {
  readonly hubRef: { readonly name: string };
  readonly name: string;
  readonly suspend?: boolean;
  readonly deletionPolicy?: 'Delete' | 'Orphan';
  readonly driftPolicy?: 'Correct' | 'Warn';
  readonly [field: string]: unknown;
}

/** A HubFloor, HubLabel, HubArea or HubZone. */
export type EntryResource = Child & Resource<EntrySpec>;

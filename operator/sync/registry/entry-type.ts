import type { RegistryRecord, RegistryValue } from '../../client/connection/api-types';
import type { CategoryScope, CollectionType, RegistryType } from '../../client/connection/registry-types';
import type { HubClient } from '../../client/hub-client';
import type { ReadyReason } from '../../kinds/reasons';
import type { Resource } from '../../kinds/resource';
import type { Outcome } from '../../runtime/outcome';
import type { Child } from '../objects/child';
import type { ObjectType } from '../objects/ownership';

/** The description of one registry or collection, and of the kind of its resources. */
export interface EntryType extends ObjectType {
  /** The registry of the hub. */
  readonly type: RegistryType;
  /** The component of the hub whose entities the entries are: `status.entityId` has their ids. Absent: `config`, without entities. */
  readonly component?: CollectionType;
  readonly identity: EntryIdentity;
  /**
   * True: the update replaces the entry, and an absent field gets the value of a new entry. Fields of the hub
   * that `fields` lacks are sent again. Absent: the hub keeps the fields that an update lacks.
   */
  readonly isWhole?: true;
  /** The fields beside the name by their paths in the spec. Absent in the spec: the hub's value stays, unless the entry is whole. */
  readonly fields: Readonly<Record<string, EntryField>>;
  /** Fields of the hub that are neither compared nor sent. */
  readonly ignored?: readonly string[];
  /** The fields of a spec that select this type; for kinds whose resources have several types. */
  readonly typeFields?: Readonly<Record<string, unknown>>;
  /** An error of the spec that the schema cannot detect, as a sentence; undefined: none. */
  validate?(resource: EntryResource): string | undefined;
  /** Why a new entry cannot be the resource's; undefined: it can. */
  conflict?(client: HubClient, resource: EntryResource): Promise<Outcome | undefined>;
}

/** What makes an entry that of a resource. */
export interface EntryIdentity {
  /** The identity of the entry of a resource. It is recorded as `status.pendingName` before the entry is created. */
  of(resource: EntryResource): string;
  /** The identity of an entry of the hub. */
  ofEntry(id: string, record: RegistryRecord): string;
  /** True: the name is the identity, and a changed name renames the entry. */
  readonly isName: boolean;
  /** The name under which a new entry is created. */
  newName(resource: EntryResource): string;
  /** Fields of a spec that name this entry. */
  specOf(id: string): Readonly<Record<string, unknown>>;
}

/** A field of a spec that may name entries of registries. */
export interface ReferringField {
  /** Place of the field in the spec. A dot leads into an object: `expose.alexa`. If absent, the place is its name. */
  readonly at?: string;
  /** A list without an order. Cleared, it is empty. */
  readonly isSet?: boolean;
  /** The spec has names of entries of another registry, the hub has their ids. */
  readonly refersTo?: {
    readonly entryType: EntryType;
    /** Reason of `Ready` while one of them does not exist. */
    readonly reason: ReadyReason;
  };
  /** The spec has the name of a category of this page of the hub, the hub its id. */
  readonly category?: CategoryScope;
}

export interface EntryField extends ReferringField {
  /** The field's name in the hub. */
  readonly name: string;
  readonly form?: FieldForm;
  /** The value of the field when it is cleared; absent: null. `kept`: the hub has no way to clear it. */
  readonly cleared?: number | boolean | 'kept';
  /** The value of the field in a new entry; only for whole entries. Absent: a new entry lacks the field. */
  readonly default?: RegistryValue;
}

/** A field that the hub writes in another way than the spec. */
export interface FieldForm {
  /** The normal form in the hub, of a value of the spec or of the hub. */
  toHub(value: unknown): RegistryValue;
  /** Converts a normal form to a value of the spec. Absent: the value stays. */
  toSpec?(value: RegistryValue): unknown;
}

/** A HubFloor, HubLabel, HubArea, HubZone or HubHelper. */
export type EntryResource = Child & Resource<{ readonly name: string; readonly [field: string]: unknown }>;

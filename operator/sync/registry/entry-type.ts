import type { RegistryFields, RegistryRecord, RegistryValue } from '../../client/connection/api-types';
import type { CategoryScope, CollectionType, RegistryType } from '../../client/connection/registry-types';
import type { HubClient } from '../../client/hub-client';
import type { ReadyReason } from '../../kinds/reasons';
import type { Resource } from '../../kinds/resource';
import type { Outcome } from '../../runtime/outcome';
import type { Child } from '../objects/child';
import type { ObjectType } from '../objects/ownership';

/**
 * The description of a registry or collection of the hub, and of the kind whose resources have entries in it.
 */
export interface EntryType extends ObjectType {
  /** The registry of the hub. */
  readonly type: RegistryType;
  /**
   * The hub's component that creates the entities of the entries, whose ids are in `status.entityId`. Absent
   * for entries without entities, which belong to the component `config`.
   */
  readonly component?: CollectionType;
  readonly identity: EntryIdentity;
  /**
   * True if an update replaces the whole entry, so that the hub gives an absent field its default. The
   * operator keeps fields of the hub that are not in `fields`. If absent, the hub keeps fields that an update
   * does not send.
   */
  readonly isWhole?: true;
  /**
   * The fields besides the name, by their paths in the spec. If the spec does not set a field, the hub's
   * value stays, unless the entry is written as a whole.
   */
  readonly fields: Readonly<Record<string, EntryField>>;
  /** Names of the hub's fields that are neither compared nor sent. */
  readonly ignored?: readonly string[];
  /**
   * The fields of every command, with their values in an entry without them; only for whole entries. An
   * update sends no other fields. If absent, an update sends all fields that the entry has.
   */
  readonly sent?: RegistryFields;
  /** The hub's fields that status shows, by their names there. */
  readonly shown?: Readonly<Record<string, string>>;
  /** The fields of a spec that select this type, if a kind has several types. */
  readonly typeFields?: Readonly<Record<string, unknown>>;
  /**
   * Finds an error of the spec that the schema cannot detect.
   *
   * @returns a sentence, undefined when there is none
   */
  validate?(resource: EntryResource): string | undefined;
  /**
   * Finds why the entity of the entry cannot keep its value after an update.
   *
   * @param value the present state of the entity
   * @returns the end of a sentence without the value, undefined when it can
   */
  valueProblem?(resource: EntryResource, value: string): string | undefined;
  /**
   * The outcome if an entry cannot be created for the resource.
   *
   * @returns undefined when it can
   */
  conflict?(
    client: HubClient,
    resource: EntryResource,
    desired: RegistryFields,
  ): Promise<Outcome | undefined>;
}

/** The property by which an entry belongs to a resource: its name or its id. */
export interface EntryIdentity {
  /** The identity of the entry of a resource. It is recorded as `status.pendingName` before the entry is created. */
  of(resource: EntryResource): string;
  /** The identity of an entry of the hub. */
  ofEntry(id: string, record: RegistryRecord): string;
  /** True: the name is the identity, and a changed name renames the entry. */
  readonly isName: boolean;
  /** The name with which a new entry is created. */
  newName(resource: EntryResource): string;
  /** The fields of a spec that contain this identity. */
  specOf(id: string): Readonly<Record<string, unknown>>;
}

/** A field of a spec that may contain names of registry entries. */
export interface ReferringField {
  /** Place of the field in the spec. A dot leads into an object: `expose.alexa`. If absent, the place is its name. */
  readonly at?: string;
  /** The field is a list without an order. If cleared, it is empty. */
  readonly isSet?: boolean;
  /** The spec has names of entries of another registry, and the hub has their ids. */
  readonly refersTo?: {
    readonly entryType: EntryType;
    /** Reason of `Ready` while one of the entries does not exist. */
    readonly reason: ReadyReason;
  };
  /** The spec has a name that is found in another way, and the hub has a value that the name stands for. */
  readonly lookup?: FieldLookup;
  /**
   * The items are entity ids, which the hub does not check. It takes away an entity that is removed. That is
   * left until the entity exists again.
   */
  readonly ofEntities?: true;
  /** The spec has the name of a category of this page of the hub, the hub its id. */
  readonly category?: CategoryScope;
}

/** The way from a name in a spec to the value that the hub has for it. */
interface FieldLookup {
  /** What has the name, such as `user`. */
  readonly noun: string;
  /** Reason of `Ready` while the hub does not have it. */
  readonly reason: ReadyReason;
  /** The value for a name; undefined while there is none. */
  valueOf(client: HubClient, name: string): Promise<string | null | undefined>;
  /** The names by values. */
  names(client: HubClient): Promise<ReadonlyMap<string, string>>;
  /** Calls `listener` when a name may have appeared. */
  onChange(client: Pick<HubClient, 'users'>, listener: () => void): void;
}

export interface EntryField extends ReferringField {
  /** The field's name in the hub. */
  readonly name: string;
  /** At most one entry of the hub has a value of this field: an entry of the resource's value is the resource's. */
  readonly isUnique?: true;
  readonly form?: FieldForm;
  /** The value of the field when it is cleared, by default null. `kept`: the hub has no way to clear it. */
  readonly cleared?: number | boolean | 'kept';
  /** The value of the field in a new entry; only for whole entries. Absent: a new entry lacks the field. */
  readonly default?: RegistryValue;
}

/** Conversion of a field whose form differs between spec and hub. */
export interface FieldForm {
  /** Converts a value of the spec or of the hub to the hub's normal form. */
  toHub(value: unknown): RegistryValue;
  /** Converts a normal form to the form of the spec. If absent, both are the same. */
  toSpec?(value: RegistryValue): unknown;
}

/** A resource with an entry: a HubFloor, HubLabel, HubArea, HubZone, HubHelper or HubPerson. */
export type EntryResource = Child & Resource<{ readonly name: string; readonly [field: string]: unknown }>;

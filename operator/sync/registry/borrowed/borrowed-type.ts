import type { SettingsType } from '../../../client/connection/registry-types';
import type { HubClient } from '../../../client/hub-client';
import type { Configurable, Settings, SettingsRegistry } from '../../../client/registries/settings';
import type { KindDefinition } from '../../../kinds/kind';
import type { ReadyReason } from '../../../kinds/reasons';
import type { CustomResource, Resource } from '../../../kinds/resource';
import type { Outcome } from '../../../runtime/outcome';
import type { Child } from '../../objects/child';
import type { ObjectType } from '../../objects/ownership';
import { areas, labels, type ReferringField } from '../entry-types';

/** A resource that has settings for an entry of the hub. */
export type SettingsResource = Child & Resource<{ readonly [field: string]: unknown }>;

/** A HubEntity or a HubDevice. */
export type Borrower = SettingsResource & Resource<{ readonly select: object }>;

/** The data of the hub that a selector uses. */
export interface Lookup {
  readonly client: HubClient;
  /** Returns the id of the config entry of a HubIntegration of the hub, undefined if it has none yet. */
  readonly configEntryOf: (integration: string) => string | undefined;
  /** Reports whether an entity with this id has a state. The answer may be some seconds old. */
  readonly hasState: (entityId: string) => Promise<boolean>;
  /** The version of the hub. Undefined if not known. */
  readonly version: string | undefined;
}

/** A setting that the hub would not accept. */
export interface Refusal {
  readonly setting: string;
  readonly reason: ReadyReason;
  /** The message of the condition, as a sentence. */
  readonly message: string;
}

/** Entries of the hub that match a selector, or a sentence about why none can match yet. */
export type Selected<R> = { readonly found: readonly R[] } | { readonly missing: string };

/** The description of the settings that resources of one kind have. */
export interface SettingsKind<R extends Configurable = Configurable> extends ObjectType {
  readonly type: SettingsType;
  /** The status field with the hash of the settings that the hub accepted last. */
  readonly hashField: 'appliedHash' | 'settingsHash';
  /** True if a resource may have no settings. Such resources are not watched. */
  readonly isOptional?: true;
  /** The fields of the settings, by name. */
  readonly fields: Readonly<Record<string, ReferringField>>;
  registryOf(client: HubClient): SettingsRegistry<R>;
  /** The name of the entry in messages, such as `light.kitchen`. */
  nameOf(record: R): string;
  /** Status fields about the entry, besides its id. */
  statusOf(record: R): Readonly<Record<string, unknown>>;
  /** The first of these changes that the hub would reject, or accept without effect. */
  refusal(record: R, changes: Settings, all: Iterable<R>, lookup: Lookup): Refusal | undefined;
  /**
   * The outcome while the settings have no effect yet, although the hub has them.
   *
   * @returns undefined when they are effective
   */
  awaited?(resource: SettingsResource, record: R, lookup: Lookup): Promise<Outcome | undefined>;
}

/** The description of a kind whose resources select an entry. */
export interface BorrowedType<R extends Configurable = Configurable> extends SettingsKind<R> {
  /** Reason of `Ready` while the hub has no such entry. */
  readonly notFound: ReadyReason;
  select(resource: Borrower, all: Iterable<R>, lookup: Lookup): Promise<Selected<R>>;
  /** The kinds whose resources create such entries and have settings for them. */
  readonly makers: readonly KindDefinition[];
  /**
   * Finds the kind among the makers whose resources create this entry, and the id that such a resource
   * records in status.
   *
   * @returns undefined when no kind does
   */
  madeBy?(record: R): Made | undefined;
}

/** An entry that a resource creates and has settings for. */
export interface Made extends Pick<ObjectType, 'definition' | 'idField'> {
  readonly id: string;
  /** Reports whether a resource of the kind with this id makes this entry, and not another one. */
  isMaker(resource: CustomResource): boolean;
}

/** The settings that entities and devices have in common. */
export const placeFields: Readonly<Record<string, ReferringField>> = {
  areaName: { refersTo: { entryType: areas, reason: 'AreaNotFound' } },
  labels: { isSet: true, refersTo: { entryType: labels, reason: 'LabelNotFound' } },
};

/**
 * The refusal to enable an entry whose device or config entry is disabled: the hub would report success
 * without effect, or reject the change.
 */
export function disabledAbove({ disabledBy }: Configurable, changes: Settings): Refusal | undefined {
  if (changes['disabled'] !== false) return undefined;
  const above = disabledBy === null ? undefined : ABOVE[disabledBy];
  return above && { setting: 'disabled', ...above };
}

const ABOVE: Readonly<Record<string, Omit<Refusal, 'setting'>>> = {
  device: {
    reason: 'DisabledByDevice',
    message:
      'It is disabled together with its device: enable the device, by disabled: false of a HubDevice or in the hub.',
  },
  config_entry: {
    reason: 'DisabledByEntry',
    message:
      'It is disabled together with its config entry: enable that, by enabled: true of its HubIntegration or in the hub.',
  },
};

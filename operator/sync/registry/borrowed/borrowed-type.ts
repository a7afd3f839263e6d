import type { SettingsType } from '../../../client/connection/registry-types';
import type { HubClient } from '../../../client/hub-client';
import type { Configurable, Settings, SettingsRegistry } from '../../../client/registries/settings';
import type { KindDefinition } from '../../../kinds/kind';
import type { ReadyReason } from '../../../kinds/reasons';
import type { Resource } from '../../../kinds/resource';
import type { Outcome } from '../../../runtime/outcome';
import type { Child } from '../../objects/child';
import type { ObjectType } from '../../objects/ownership';
import { areas, labels, type ReferringField } from '../entry-types';

/** A resource with settings of an entry. */
export type SettingsResource = Child & Resource<{ readonly [field: string]: unknown }>;

/** A HubEntity or a HubDevice. */
export type Borrower = SettingsResource & Resource<{ readonly select: object }>;

/** The parts of the hub that a selector looks at. */
export interface Lookup {
  readonly client: HubClient;
  /** The id of the config entry of a HubIntegration of the hub; undefined: it has none yet. */
  readonly configEntryOf: (integration: string) => string | undefined;
  /** Whether there is a state of this id. The answer may be some seconds old. */
  readonly hasState: (entityId: string) => Promise<boolean>;
  /** The version of the hub; undefined: not known. */
  readonly version: string | undefined;
}

/** A setting that the hub would not take. */
export interface Refusal {
  readonly setting: string;
  readonly reason: ReadyReason;
  /** The message of the condition, as a sentence. */
  readonly message: string;
}

/** Entries of the hub that fit a selector, or why none can fit yet, as a sentence. */
export type Selected<R> = { readonly found: readonly R[] } | { readonly missing: string };

/** The description of the settings of one kind of resource. */
export interface SettingsKind<R extends Configurable = Configurable> extends ObjectType {
  readonly type: SettingsType;
  /** Field of `status` with the hash of the settings that the hub has accepted. */
  readonly hashField: 'appliedHash' | 'settingsHash';
  /** Resources without any settings exist: they are not followed. */
  readonly isOptional?: true;
  /** The settings by their names. */
  readonly fields: Readonly<Record<string, ReferringField>>;
  registryOf(client: HubClient): SettingsRegistry<R>;
  /** The entry for people: `light.kitchen`. */
  nameOf(record: R): string;
  /** Status fields of the entry beside its id. */
  statusOf(record: R): Readonly<Record<string, unknown>>;
  /** The first of these changes that the hub would refuse, or take without effect. */
  refusal(record: R, changes: Settings, all: Iterable<R>, lookup: Lookup): Refusal | undefined;
  /** Why the settings have no effect yet although the hub has them; undefined: they have. */
  awaited?(resource: SettingsResource, record: R, lookup: Lookup): Promise<Outcome | undefined>;
}

/** The description of a kind whose resources select the entry. */
export interface BorrowedType<R extends Configurable = Configurable> extends SettingsKind<R> {
  /** Reason of `Ready` while the hub has no such entry. */
  readonly notFound: ReadyReason;
  select(resource: Borrower, all: Iterable<R>, lookup: Lookup): Promise<Selected<R>>;
  /** The kinds whose resources make such entries, and have settings for them. */
  readonly makers: readonly KindDefinition[];
  /**
   * Finds the kind among the makers whose resources make this entry, and the id that such a resource records in status.
   *
   * @returns undefined if no kind does
   */
  madeBy?(record: R): Made | undefined;
}

/** An entry that a resource makes, which has the settings itself. */
export interface Made extends Pick<ObjectType, 'definition' | 'idField'> {
  readonly id: string;
}

/** The settings that entities and devices have. */
export const placeFields: Readonly<Record<string, ReferringField>> = {
  areaName: { refersTo: { entryType: areas, reason: 'AreaNotFound' } },
  labels: { isSet: true, refersTo: { entryType: labels, reason: 'LabelNotFound' } },
};

/** Enabling has no effect while something above is disabled: the hub answers success, or refuses it. */
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

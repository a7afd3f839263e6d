import type { SettingsType } from '../../../client/connection/registry-types';
import type { HubClient } from '../../../client/hub-client';
import type { Configurable, Settings, SettingsRegistry } from '../../../client/registries/settings';
import type { ReadyReason } from '../../../kinds/reasons';
import type { Resource } from '../../../kinds/resource';
import type { Outcome } from '../../../runtime/outcome';
import type { Child } from '../../objects/child';
import type { ObjectType } from '../../objects/ownership';
import { areas, labels, type ReferringField } from '../entry-types';

/** A HubEntity or a HubDevice. */
export type Borrower = Child & Resource<{ readonly select: object; readonly [field: string]: unknown }>;

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

/** The description of one kind of settings. */
export interface BorrowedType<R extends Configurable = Configurable> extends ObjectType {
  readonly type: SettingsType;
  /** Reason of `Ready` while the hub has no such entry. */
  readonly notFound: ReadyReason;
  /** The settings by their names; a dot leads into an object of the spec. */
  readonly fields: Readonly<Record<string, ReferringField>>;
  registryOf(client: HubClient): SettingsRegistry<R>;
  select(resource: Borrower, all: Iterable<R>, lookup: Lookup): Promise<Selected<R>>;
  /** The entry for people: `light.kitchen`. */
  nameOf(record: R): string;
  /** Status fields of the entry beside its id. */
  statusOf(record: R): Readonly<Record<string, unknown>>;
  /** The first of these changes that the hub would refuse, or take without effect. */
  refusal(record: R, changes: Settings, all: Iterable<R>, lookup: Lookup): Refusal | undefined;
  /** Why the settings have no effect yet although the hub has them; undefined: they have. */
  awaited?(resource: Borrower, record: R, lookup: Lookup): Promise<Outcome | undefined>;
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

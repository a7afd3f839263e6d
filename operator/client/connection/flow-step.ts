/**
 * The steps of the hub's flows as its API shows them. Source: `homeassistant.data_entry_flow`, and `probatio.to_field_list`
 * for the fields of a form.
 */

import type { Scalar } from './shape';

/** Which manager runs a flow: one that makes an entry (or reconfigures it), one for its options, one for a subentry. */
export type FlowKind = 'config' | 'options' | 'subentries';

/** A field of a form. It has a `type` or a `selector`, or neither if the hub cannot describe it. */
export interface FormField {
  readonly name: string;
  readonly required?: boolean;
  /** The value that the hub takes when the field is left out. */
  readonly default?: unknown;
  /** `suggested_value`: the value that the hub's UI puts into the field, often the present one. */
  readonly description?: { readonly suggested_value?: unknown } | string | null;
  /** `string`, `integer`, `float`, `boolean`, `select`, `multi_select`, `constant`, `expandable` (a section), … */
  readonly type?: string;
  /** The options of `select`: pairs of value and label; of `multi_select`: labels by value, or values. */
  readonly options?: readonly unknown[] | Readonly<Record<string, unknown>>;
  /** The value of `constant`. */
  readonly value?: unknown;
  readonly valueMin?: number | null;
  readonly valueMax?: number | null;
  readonly lengthMin?: number | null;
  readonly lengthMax?: number | null;
  readonly allow_none?: boolean;
  /** Fields of a section. */
  readonly schema?: readonly FormField[];
  /** False: the hub's UI shows the fields of the section only when a person opens it. */
  readonly expanded?: boolean;
  /** By the selector's type, its configuration. */
  readonly selector?: Readonly<Record<string, Readonly<Record<string, unknown>> | null>>;
  /** The condition under which the field counts. */
  readonly visible?: unknown;
}

export type Placeholders = Readonly<Record<string, Scalar>> | null;

interface OpenStep {
  readonly flow_id: string;
  readonly step_id: string;
  readonly description_placeholders?: Placeholders;
}

export interface FormStep extends OpenStep {
  readonly type: 'form';
  /** A schema that is no mapping is shown as an object; such a form has no fields. */
  readonly data_schema: readonly FormField[] | null;
  /** Key of the error by field, or under `base`. */
  readonly errors?: Readonly<Record<string, string>> | null;
  /** True: the answers end the flow. Absent or null: the hub does not know. */
  readonly last_step?: boolean | null;
}

export interface MenuStep extends OpenStep {
  readonly type: 'menu';
  readonly menu_options: readonly string[] | Readonly<Record<string, string>>;
}

/** A step in the browser, such as a login at another site. */
export interface ExternalStep extends OpenStep {
  readonly type: 'external' | 'external_done';
}

/** The hub works on it. */
export interface ProgressStep extends OpenStep {
  readonly type: 'progress' | 'progress_done';
}

/** The end of a flow. Only a config flow shows the entry that it made. */
export interface CreatedStep {
  readonly type: 'create_entry';
  readonly flow_id: string;
  readonly result?: ConfigEntry;
}

/** The end of a flow without an entry. A reconfiguration ends so, too: `reconfigure_successful`. */
export interface AbortStep {
  readonly type: 'abort';
  readonly flow_id: string;
  readonly reason: string;
  readonly description_placeholders?: Placeholders;
  /** The integration that has the text of the reason; absent: the one of the flow. */
  readonly translation_domain?: string;
}

export type FlowStep = FormStep | MenuStep | ExternalStep | ProgressStep | CreatedStep | AbortStep;

/** A config entry as the hub shows it: never its data. Times are seconds. */
export interface ConfigEntry {
  readonly entry_id: string;
  readonly domain: string;
  readonly title: string;
  /** `user`, `import`, `ignore` (a discovery that a person dismissed), … */
  readonly source: string;
  /** `loaded`, `setup_retry`, `setup_error`, `not_loaded`, … */
  readonly state: string;
  readonly disabled_by: string | null;
  /** Why it is not loaded. */
  readonly reason: string | null;
  readonly supports_options: boolean;
  readonly supports_reconfigure: boolean;
  readonly supported_subentry_types?: Readonly<Record<string, { readonly supports_reconfigure: boolean }>>;
  readonly error_reason_translation_key?: string | null;
  /** Seconds since 1970. Absent in hubs before 2024.8. */
  readonly created_at?: number;
  /** The time of the last change, in seconds since 1970. */
  readonly modified_at?: number;
}

/** A part of a config entry. */
export interface ConfigSubentry {
  readonly subentry_id: string;
  readonly subentry_type: string;
  readonly title: string;
}

/** A flow that the hub started itself. */
export interface FlowInProgress {
  readonly flow_id: string;
  /** Domain of the integration. */
  readonly handler: string;
  readonly context: {
    /** `reauth`, or how a device was discovered, such as `zeroconf`. */
    readonly source: string;
    readonly entry_id?: string;
    /** Placeholders of a discovered device, with its name as the hub's UI shows it. */
    readonly title_placeholders?: Readonly<Record<string, Scalar>>;
  };
}

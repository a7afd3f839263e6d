/**
 * The steps of the hub's flows, in the form of its API. Source: `homeassistant.data_entry_flow`, and
 * `probatio.to_field_list` for the fields of a form.
 */

import {
  byType,
  fieldName,
  flag,
  length,
  list,
  nullable,
  number,
  object,
  type Of,
  type OfFields,
  optional,
  record,
  scalar,
  type Shape,
  text,
  unchecked,
} from './shape';

/**
 * The type of a flow, which decides the API to use: for a config entry (to create or reconfigure it), for its
 * options, or for a subentry.
 */
export type FlowKind = 'config' | 'options' | 'subentries';

const limit = optional(nullable(number));
const fieldShapes = {
  name: fieldName,
  required: optional(flag),
  /** The value that the hub uses if the field is omitted. */
  default: unchecked(),
  /** `suggested_value` is the value that the hub's UI prefills, often the current one. */
  description: unchecked<{ readonly suggested_value?: unknown } | string | null | undefined>(),
  /**
   * Type of the field: `string`, `integer`, `float`, `boolean`, `select`, `multi_select`, `constant`,
   * `expandable` (a section), …
   */
  type: optional(text),
  /**
   * The options. For `select`: pairs of value and label. For `multi_select`: labels by value, or a list of
   * values.
   */
  options: unchecked<readonly unknown[] | Readonly<Record<string, unknown>> | undefined>(),
  /** The fixed value of a `constant`. */
  value: unchecked(),
  valueMin: limit,
  valueMax: limit,
  lengthMin: optional(nullable(length)),
  lengthMax: optional(nullable(length)),
  allow_none: optional(flag),
  /** False if the hub's UI collapses the section at first. */
  expanded: optional(flag),
  /** Configuration of the selector by its type. */
  selector: optional(record(nullable(object({ min: limit, max: limit })))) as Shape<
    Readonly<Record<string, Readonly<Record<string, unknown>> | null>> | undefined
  >,
  /** The condition under which the field is shown. */
  visible: unchecked(),
};

/** A field of a form. It has a `type` or a `selector`, or neither if the hub cannot describe the field. */
export interface FormField extends OfFields<typeof fieldShapes> {
  /** The fields of a section. */
  readonly schema?: readonly FormField[] | undefined;
}

const formField: Shape<FormField> = object({
  ...fieldShapes,
  schema: optional(list<FormField>((value) => formField(value))),
});
/**
 * The fields of a form. The hub shows a schema that is not a mapping as an object; such a form counts as one
 * without fields.
 */
const formFields: Shape<readonly FormField[] | null> = (value) =>
  Array.isArray(value) ? list(formField)(value) : undefined;
const menuOptions: Shape<readonly string[] | Readonly<Record<string, string>>> = (value) =>
  Array.isArray(value) ? list(text)(value) : object({})(value);

const placeholders = optional(nullable(record(scalar)));
export type Placeholders = Exclude<Of<typeof placeholders>, undefined>;

/**
 * A config entry in the form of the hub's API, which never includes the entry's data. Times are in seconds.
 */
export const configEntry = object({
  entry_id: text,
  domain: text,
  title: text,
  /** Source of the entry: `user`, `import`, `ignore` (a user dismissed the discovery), … */
  source: text,
  /** State of the entry: `loaded`, `setup_retry`, `setup_error`, `not_loaded`, … */
  state: text,
  disabled_by: nullable(text),
  /** The hub's message for an entry that failed to load; null if it is loaded. */
  reason: nullable(text),
  supports_options: flag,
  supports_reconfigure: flag,
  /** False if only a restart of the hub can set up entities of the entry that were enabled. */
  supports_unload: optional(flag),
  supported_subentry_types: optional(record(object({ supports_reconfigure: flag }))),
  error_reason_translation_key: optional(nullable(text)),
  /** Time of the creation in seconds since 1970. Absent in hubs before 2024.8. */
  created_at: optional(number),
  /** Time of the last change in seconds since 1970. */
  modified_at: optional(number),
});
export type ConfigEntry = Of<typeof configEntry>;

/** A subentry of a config entry. */
export const configSubentry = object({ subentry_id: text, subentry_type: text, title: text });
export type ConfigSubentry = Of<typeof configSubentry>;

const openStep = { flow_id: text, step_id: text, description_placeholders: placeholders };
/** A step that a user completes in the browser, such as a login at another site. */
const external = object(openStep);
/** A step in which the hub is working. */
const progress = object(openStep);

export const flowStep = byType({
  form: object({
    ...openStep,
    data_schema: formFields,
    /** Key of the error by field; errors of the whole form are under `base`. */
    errors: optional(nullable(record(text))),
    /** True if the answers to this step end the flow. Absent or null if the hub does not know. */
    last_step: unchecked<boolean | null | undefined>(),
  }),
  menu: object({ ...openStep, menu_options: menuOptions }),
  external,
  external_done: external,
  progress,
  progress_done: progress,
  /** The end of a flow with success. Only a config flow shows the entry that it created. */
  create_entry: object({ flow_id: text, result: optional(configEntry) }),
  /**
   * The end of a flow without an entry. A successful reconfiguration also ends in this way, with the reason
   * `reconfigure_successful`.
   */
  abort: object({
    flow_id: text,
    reason: text,
    description_placeholders: placeholders,
    /**
     * The integration whose translations contain the reason. Absent if that is the integration of the flow.
     */
    translation_domain: optional(text),
  }),
});
export type FlowStep = Of<typeof flowStep>;
type StepOf<Type extends FlowStep['type']> = Extract<FlowStep, { readonly type: Type }>;
export type FormStep = StepOf<'form'>;
export type MenuStep = StepOf<'menu'>;

/** A flow that the hub itself started. */
export const flowInProgress = object({
  flow_id: text,
  /** Domain of the integration. */
  handler: text,
  context: object({
    /** `reauth`, or how the device was discovered, such as `zeroconf`. */
    source: text,
    entry_id: optional(text),
    /** Placeholders for the title of a discovered device, which include its name in the hub's UI. */
    title_placeholders: optional(record(scalar)),
  }),
});
export type FlowInProgress = Of<typeof flowInProgress>;

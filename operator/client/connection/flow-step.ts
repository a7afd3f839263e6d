/**
 * The steps of the hub's flows as its API shows them. Source: `homeassistant.data_entry_flow`, and `probatio.to_field_list`
 * for the fields of a form.
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

/** Which manager runs a flow: one that makes an entry (or reconfigures it), one for its options, one for a subentry. */
export type FlowKind = 'config' | 'options' | 'subentries';

const limit = optional(nullable(number));
const fieldShapes = {
  name: fieldName,
  required: optional(flag),
  /** The value that the hub takes when the field is left out. */
  default: unchecked(),
  /** `suggested_value`: the value that the hub's UI puts into the field, often the present one. */
  description: unchecked<{ readonly suggested_value?: unknown } | string | null | undefined>(),
  /** `string`, `integer`, `float`, `boolean`, `select`, `multi_select`, `constant`, `expandable` (a section), … */
  type: optional(text),
  /** The options of `select`: pairs of value and label; of `multi_select`: labels by value, or values. */
  options: unchecked<readonly unknown[] | Readonly<Record<string, unknown>> | undefined>(),
  /** The value of `constant`. */
  value: unchecked(),
  valueMin: limit,
  valueMax: limit,
  lengthMin: optional(nullable(length)),
  lengthMax: optional(nullable(length)),
  allow_none: optional(flag),
  /** False: the hub's UI shows the fields of the section only when a person opens it. */
  expanded: optional(flag),
  /** By the selector's type, its configuration. */
  selector: optional(record(nullable(object({ min: limit, max: limit })))) as Shape<
    Readonly<Record<string, Readonly<Record<string, unknown>> | null>> | undefined
  >,
  /** The condition under which the field counts. */
  visible: unchecked(),
};

/** A field of a form. It has a `type` or a `selector`, or neither if the hub cannot describe it. */
export interface FormField extends OfFields<typeof fieldShapes> {
  /** Fields of a section. */
  readonly schema?: readonly FormField[] | undefined;
}

const formField: Shape<FormField> = object({
  ...fieldShapes,
  schema: optional(list<FormField>((value) => formField(value))),
});
/** A schema that is no mapping is shown as an object; such a form has no fields. */
const formFields: Shape<readonly FormField[] | null> = (value) =>
  Array.isArray(value) ? list(formField)(value) : undefined;
const menuOptions: Shape<readonly string[] | Readonly<Record<string, string>>> = (value) =>
  Array.isArray(value) ? list(text)(value) : object({})(value);

const placeholders = optional(nullable(record(scalar)));
export type Placeholders = Exclude<Of<typeof placeholders>, undefined>;

/** A config entry as the hub shows it: never its data. Times are seconds. */
export const configEntry = object({
  entry_id: text,
  domain: text,
  title: text,
  /** `user`, `import`, `ignore` (a discovery that a person dismissed), … */
  source: text,
  /** `loaded`, `setup_retry`, `setup_error`, `not_loaded`, … */
  state: text,
  disabled_by: nullable(text),
  /** Why it is not loaded. */
  reason: nullable(text),
  supports_options: flag,
  supports_reconfigure: flag,
  /** False: only a start of the hub sets up an entity of it that was enabled. */
  supports_unload: optional(flag),
  supported_subentry_types: optional(record(object({ supports_reconfigure: flag }))),
  error_reason_translation_key: optional(nullable(text)),
  /** Seconds since 1970. Absent in hubs before 2024.8. */
  created_at: optional(number),
  /** The time of the last change, in seconds since 1970. */
  modified_at: optional(number),
});
export type ConfigEntry = Of<typeof configEntry>;

/** A part of a config entry. */
export const configSubentry = object({ subentry_id: text, subentry_type: text, title: text });
export type ConfigSubentry = Of<typeof configSubentry>;

const openStep = { flow_id: text, step_id: text, description_placeholders: placeholders };
/** A step in the browser, such as a login at another site. */
const external = object(openStep);
/** The hub works on it. */
const progress = object(openStep);

export const flowStep = byType({
  form: object({
    ...openStep,
    data_schema: formFields,
    /** Key of the error by field, or under `base`. */
    errors: optional(nullable(record(text))),
    /** True: the answers end the flow. Absent or null: the hub does not know. */
    last_step: unchecked<boolean | null | undefined>(),
  }),
  menu: object({ ...openStep, menu_options: menuOptions }),
  external,
  external_done: external,
  progress,
  progress_done: progress,
  /** The end of a flow. Only a config flow shows the entry that it made. */
  create_entry: object({ flow_id: text, result: optional(configEntry) }),
  /** The end of a flow without an entry. A reconfiguration ends so, too: `reconfigure_successful`. */
  abort: object({
    flow_id: text,
    reason: text,
    description_placeholders: placeholders,
    /** The integration that has the text of the reason; absent: the one of the flow. */
    translation_domain: optional(text),
  }),
});
export type FlowStep = Of<typeof flowStep>;
type StepOf<Type extends FlowStep['type']> = Extract<FlowStep, { readonly type: Type }>;
export type FormStep = StepOf<'form'>;
export type MenuStep = StepOf<'menu'>;

/** A flow that the hub started itself. */
export const flowInProgress = object({
  flow_id: text,
  /** Domain of the integration. */
  handler: text,
  context: object({
    /** `reauth`, or how a device was discovered, such as `zeroconf`. */
    source: text,
    entry_id: optional(text),
    /** Placeholders of a discovered device, with its name as the hub's UI shows it. */
    title_placeholders: optional(record(scalar)),
  }),
});
export type FlowInProgress = Of<typeof flowInProgress>;

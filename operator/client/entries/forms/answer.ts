/** A value as a user wrote it, before it is converted for the form's field. */
export type Value =
  | { readonly type: 'text'; readonly text: string }
  | { readonly type: 'json'; readonly value: unknown }
  | { readonly type: 'file'; readonly content: Uint8Array; readonly fileName: string };

/** A value with its place. */
export interface Answer {
  /**
   * The place in the spec, which identifies the answer across reconciles: `configuration.port`,
   * `steps[0].user.port`, `options.port`, `subentries.device/Lamp.port`.
   */
  readonly id: string;
  /** Name of the field, or `section.field`. */
  readonly field: string;
  readonly value: Value;
  /** True if the value comes from a Secret. */
  readonly isSecret?: true;
}

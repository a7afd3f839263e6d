/** A value as a person gave it, before it is converted for the field that asks for it. */
export type Value =
  | { readonly type: 'text'; readonly text: string }
  | { readonly type: 'json'; readonly value: unknown }
  | { readonly type: 'file'; readonly content: Uint8Array; readonly fileName: string };

/** A value, and where it stands. */
export interface Answer {
  /**
   * The place in the spec, which identifies the answer from one reconcile to the next: `configuration.port`,
   * `steps[0].user.port`, `options.port`, `subentries.device/Lamp.port`.
   */
  readonly id: string;
  /** `field`, or `section.field`. */
  readonly field: string;
  readonly value: Value;
  /** The value comes from a Secret. */
  readonly isSecret?: true;
}

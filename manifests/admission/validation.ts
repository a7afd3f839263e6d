/** One rule of the admission policy. Both texts go on after "the account of the operator". */
export interface Validation {
  readonly expression: string;
  readonly message: string;
  /** CEL for a list of texts, which follow the message. */
  readonly found?: string;
}

/** A list of CEL. */
export const listOf = (values: readonly string[]): string => JSON.stringify(values);

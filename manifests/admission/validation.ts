/** One rule of the admission policy. Both texts continue the sentence "the account of the operator". */
export interface Validation {
  readonly expression: string;
  readonly message: string;
  /** CEL for a list of texts that are appended to the message. */
  readonly found?: string;
}

/** Returns a list in CEL. */
export const listOf = (values: readonly string[]): string => JSON.stringify(values);

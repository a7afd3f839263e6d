/** The two fields of `spec.recorder` that may contain the URL of the database. */
interface RecorderSources {
  readonly database?: string | undefined;
  readonly databaseSecretRef?: object | undefined;
}

/**
 * A sentence about the field of `spec.recorder` that is ignored because both fields are set; undefined if not
 * both are.
 */
export function overriddenDatabase(recorder: RecorderSources | undefined): string | undefined {
  if (recorder?.database === undefined || recorder.databaseSecretRef === undefined) return undefined;
  return 'spec.recorder has database and databaseSecretRef, and the Secret is used: remove database.';
}

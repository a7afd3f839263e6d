/** The two places of `spec.recorder` that may have the URL of the database. */
interface RecorderSources {
  readonly database?: string | undefined;
  readonly databaseSecretRef?: object | undefined;
}

/** What of `spec.recorder` has no effect since both places have a URL, as a sentence; undefined: nothing. */
export function overriddenDatabase(recorder: RecorderSources | undefined): string | undefined {
  if (recorder?.database === undefined || recorder.databaseSecretRef === undefined) return undefined;
  return 'spec.recorder has database and databaseSecretRef, and the Secret is used: remove database.';
}

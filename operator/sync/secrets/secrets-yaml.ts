/** Key of the generated `secrets.yaml` with the hash of its content, for the marker of the configuration. */
export const SECRETS_HASH_KEY = 'hub_operator_hash';

import { SECRETS_HASH_KEY } from '../secrets/secrets-yaml';

/**
 * The marker by which a running hub shows which configuration and which secrets it has read: a script without actions,
 * whose variables the hub answers to `script/config` once it has reloaded its scripts.
 */
export const MARKER_SCRIPT = 'hub_operator_configuration';

/** Its variables, by the name of what they stand for. */
export interface MarkerVariables {
  readonly configuration: string;
  /** Absent for a hub without secrets. */
  readonly secrets?: string;
}

/** The value of its section, as YAML in one line. The hub resolves the secret. */
export function markerYaml(hash: string, withSecrets: boolean): string {
  const secrets = withSecrets ? `, secrets: !secret ${SECRETS_HASH_KEY}` : '';
  return `{${MARKER_SCRIPT}: {sequence: [], variables: {configuration: "${hash}"${secrets}}}}`;
}

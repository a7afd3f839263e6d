import { MARKER_SCRIPT } from '../../../kinds/ids';
import type { ContentHashes } from '../../hub-pod/content-hashes';
import { SECRETS_HASH_KEY } from '../../secrets-yaml/secrets-yaml';
import type { Files } from './config-files';
import { digestsOfParts, isInParts, partFile } from './parts';

/**
 * The value of the marker section, as YAML in one line. The hub resolves the secret in it, and includes the
 * files with the digests of the parts.
 *
 * @param files all files except `configuration.yaml`
 */
export function markerYaml(hash: string, files: Files, withSecrets: boolean): string {
  const secrets = withSecrets ? `, secrets: !secret ${SECRETS_HASH_KEY}` : '';
  const pairs = isInParts(files)
    ? digestsOfParts(files).map((digest, index) => `["${digest}", !include ${partFile(index)}]`)
    : [];
  const parts = pairs.length > 0 ? `, parts: [${pairs.join(', ')}]` : '';
  return `{${MARKER_SCRIPT}: {sequence: [], variables: {configuration: "${hash}"${secrets}${parts}}}}`;
}

/**
 * The marker that former files show when the hub reads them again. Former secrets are not kept, so it shows
 * the present ones.
 */
export function formerMarker(
  { files, marker }: { readonly files: Files; readonly marker: ContentHashes },
  { secrets }: ContentHashes,
): ContentHashes {
  const showsSecrets = files['configuration.yaml']?.includes(SECRETS_HASH_KEY) ?? false;
  return { configuration: marker.configuration, secrets: showsSecrets ? secrets : undefined };
}

import type { BoundedTasks } from '../../operator/base/bounded-task';
import { findingsOf } from '../../operator/offline/findings';
import type { Manifest } from '../../operator/offline/manifests';
import type { Files } from '../../operator/sync/configuration/generate/config-files';
import type { ConfigMapPlan } from './config-maps';

/**
 * The findings of `validate` about the configuration and its ConfigMaps, with messages that name the files of
 * the source.
 */
export async function checkConfiguration(
  manifest: object,
  configMaps: readonly ConfigMapPlan[],
  files: Files,
  texts: BoundedTasks,
) {
  const manifests = [manifest, ...configMaps.map((each) => configMapOf(each, files))].map(
    (object): Manifest => ({ file: '', object: object as Manifest['object'], lineOf: () => 1 }),
  );
  const findings = await findingsOf(manifests, texts);
  const ofSeverity = (severity: 'error' | 'warning') =>
    findings
      .filter((each) => each.severity === severity)
      .map(({ field, message }) =>
        withWayOut(inSource(configMaps, field === undefined ? message : `${field}: ${message}`)),
      );
  return { errors: ofSeverity('error'), warnings: ofSeverity('warning') };
}

const configMapOf = ({ name, files: planned }: ConfigMapPlan, files: Files): object => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name },
  data: Object.fromEntries(planned.map(({ key, path }) => [key, files[path]!])),
});

/** The message about a `configuration.yaml` that is too long for its field. */
const TOO_LONG = /^configuration\.yaml: must not have more than \d+ characters\.$/;

const SPLIT =
  'Move sections into files of a folder, such as packages/lights.yaml, include it with “packages: !include_dir_named packages” below “homeassistant:”, and convert again.';

const withWayOut = (message: string): string => (TOO_LONG.test(message) ? `${message} ${SPLIT}` : message);

/**
 * Replaces places of the resource by places of the source: `configuration.yaml, line 3` for
 * `spec.configuration, line 3`, and the path of a file for its key in a ConfigMap.
 */
function inSource(configMaps: readonly ConfigMapPlan[], message: string): string {
  return message
    .replace(/^spec\.configuration\b/, 'configuration.yaml')
    .replace(/spec\.filesFrom\[\d+\], key (\S+) of the ConfigMap ([a-z0-9.-]+)/g, (whole, key, name) => {
      const planned = configMaps.find((each) => each.name === name)?.files.find((each) => each.key === key);
      return planned?.path ?? whole;
    });
}

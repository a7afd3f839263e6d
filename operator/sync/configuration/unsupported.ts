import type { HubConfigurationSpec } from '../../kinds';
import { isLower } from '../hub/workload/downgrade';

/** Home Assistant ignores `http:` in `configuration.yaml` from this version on. */
const HTTP_IN_SETTINGS = '2026.8.0';

/**
 * Parts of a HubConfiguration that this version of the operator does not carry out, each as a sentence with the way out.
 * The rest is generated all the same.
 *
 * @param sections names of the top-level sections of `spec.configuration`
 * @param hubVersion the version that runs; undefined: not known yet
 */
export function unsupportedParts(
  { reloadStrategy }: Pick<HubConfigurationSpec, 'reloadStrategy'>,
  sections: readonly string[],
  hubVersion: string | undefined,
): readonly string[] {
  const ignoresHttp = hubVersion === undefined || !isLower(hubVersion, HTTP_IN_SETTINGS);
  return [
    reloadStrategy === 'hot-reload' &&
      'spec.reloadStrategy hot-reload is not supported yet: every change restarts the hub. Set it to restart or auto.',
    sections.includes('http') &&
      ignoresHttp &&
      `The section http: in spec.configuration is not supported yet: Home Assistant ${HTTP_IN_SETTINGS} and later ignores it. Remove it, and change these settings in the hub.`,
  ].filter((sentence) => sentence !== false);
}

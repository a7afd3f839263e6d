import { unbounded } from '../../../../operator/base/bounded-task';
import type { Files } from '../../../../operator/sync/configuration/generate/config-files';
import { contentOf, generateConfiguration } from '../../../../operator/sync/configuration/generate/generate';
import { textsOfHub } from '../../../../operator/sync/configuration/generate/texts';

/** Returns the content of a HubConfiguration for which the hub has to be restarted, without secrets. */
export function contentFrom(configuration: string, files: Files = {}) {
  const generated = generateConfiguration({ configuration, files, hasSecrets: false });
  if (generated.type === 'invalid') throw new Error(generated.message);
  const texts = textsOfHub({ texts: unbounded }, 'home', 'villa');
  return contentOf(generated, undefined, { configuration: generated.hash }, texts);
}

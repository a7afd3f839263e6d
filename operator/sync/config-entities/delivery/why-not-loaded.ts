import type { ConfigEntityKind, EntityPayload } from '../../../client/connection/config-entity';
import type { HubClient } from '../../../client/hub-client';
import { readLog } from '../../../client/setup/log-records';
import { deliveredFile } from '../../hub-pod/delivery';

/**
 * The reason why the hub does not load a delivered definition, from its log. For a scene, the log often names
 * only the file and the line. Then all messages about the file are returned, since each may be about another
 * definition.
 */
export async function whyNotLoaded(
  client: Pick<HubClient, 'connection' | 'rest'>,
  kind: ConfigEntityKind,
  payload: EntityPayload,
): Promise<string> {
  const name = payload[kind === 'scene' ? 'name' : 'alias'];
  const texts = (await readLog(client))
    .filter(({ level }) => level === 'ERROR' || level === 'CRITICAL')
    .flatMap(({ message }) => message)
    .filter((text) => text.includes(kind));
  const named = texts.find((text) => typeof name === 'string' && text.includes(`'${name}'`));
  const ofFile = texts.filter((text) => text.includes(deliveredFile(kind)));
  const words =
    named ??
    (ofFile.length > 0
      ? `the hub has read it and does not load it. Its log says of the file: ${ofFile.join('; ')}`
      : 'the hub has read it and does not load it. Look for the reason in its log.');
  return client.rest.redact(words.replace(/\s+/g, ' '));
}

import type { ConfigEntityKind, EntityPayload } from '../../../client/connection/config-entity';
import type { HubClient } from '../../../client/hub-client';
import { readLog } from '../../../client/setup/log-records';
import { deliveredFile } from '../../hub-workload/delivery';

/** Why the hub does not load a delivered definition, in the words of its log where it names it. */
export async function whyNotLoaded(
  client: Pick<HubClient, 'connection' | 'rest'>,
  kind: ConfigEntityKind,
  payload: EntityPayload,
): Promise<string> {
  const name = payload[kind === 'scene' ? 'name' : 'alias'];
  const texts = (await readLog(client))
    .filter(({ level }) => level === 'ERROR' || level === 'CRITICAL')
    .flatMap(({ message }) => message)
    .filter(
      (text) =>
        text.includes(kind) &&
        (text.includes(deliveredFile(kind)) || (typeof name === 'string' && text.includes(`'${name}'`))),
    );
  const [newest] = texts;
  const none = 'the hub has read it and does not load it. Look for the reason in its log.';
  return client.rest.redact(newest === undefined ? none : newest.replace(/\s+/g, ' '));
}

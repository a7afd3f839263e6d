import { createHash } from 'node:crypto';
import { undefinedIf } from '../../base/undefined-if';
import type { HubConnection } from '../connection/connection';
import { isUnknownCommand } from '../connection/errors';

/** Components that every hub sets up once, early in its start. */
const COMPONENTS: ReadonlySet<string> = new Set(['api', 'auth', 'config', 'http', 'websocket_api']);

/**
 * Distinguishes one start of the hub from another. The hub has no id for its process. The durations of the
 * setup of its core components, measured in nanoseconds, do not change until the hub starts again.
 *
 * @returns a constant for a hub that does not report these durations: only a new pod then proves another
 * start
 */
export async function hubStartId(connection: HubConnection): Promise<string> {
  const times = await undefinedIf(isUnknownCommand, connection.command('integration/setup_info'));
  if (!times) return 'unknown';
  const own = times.filter(({ domain }) => COMPONENTS.has(domain));
  const text = own.map(({ domain, seconds }) => `${domain} ${seconds}`).sort();
  return createHash('sha256').update(text.join('\n')).digest('hex').slice(0, 16);
}

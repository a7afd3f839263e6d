import { randomUUID } from 'node:crypto';
import { RELOAD_ATTEMPT_PAUSE, RELOAD_ATTEMPTS } from '../../../base/limits';
import { CONFIG_ENTITY_KINDS } from '../../../client/connection/config-entity';
import { HubBanned, HubError, TokenRejected } from '../../../client/connection/errors';
import type { HubClient } from '../../../client/hub-client';
import { callService } from '../../../client/services';
import type { Services } from '../../services';
import type { Files } from '../generate/config-files';
import type { LoggerLevels } from '../generate/logger-levels';
import type { ConfigurationTexts } from '../generate/texts';
import { LOGGER_SERVICE, type SectionReload } from './reload-decision';

/** Default level of Home Assistant. */
const STANDARD_LEVEL = 'warning';
/** A logger of this level inherits the level of its parent. */
const INHERITED = 'notset';

interface ServiceCall {
  readonly domain: string;
  readonly service: string;
  readonly data: Readonly<Record<string, string>>;
}

/** The calls that set the levels of `after` in a hub that may have those of `before`. */
export function loggerCalls(before: LoggerLevels, after: LoggerLevels): ServiceCall[] {
  const inherited = Object.fromEntries(Object.keys(before.logs).map((name) => [name, INHERITED]));
  const levels = { ...inherited, ...after.logs };
  const level = after.default ?? STANDARD_LEVEL;
  const calls: ServiceCall[] = [];
  if (before.default !== after.default)
    calls.push({ domain: 'logger', service: 'set_default_level', data: { level } });
  if (Object.keys(levels).length > 0) calls.push({ domain: 'logger', service: 'set_level', data: levels });
  return calls;
}

/**
 * Calls the services that load these sections, each up to three times. The hub responds when a reload has
 * finished. All services are called even if one fails.
 *
 * @returns the sections that the hub failed to reload, and its errors; undefined when all succeeded
 */
export async function reloadSections(
  services: Pick<Services, 'clock' | 'log'> & {
    readonly texts: Pick<ConfigurationTexts, 'loggerLevels'>;
  },
  client: HubClient,
  reloads: readonly SectionReload[],
  { before, after }: { readonly before: Files; readonly after: Files },
  signal: AbortSignal,
) {
  const { texts } = services;
  const failures: { readonly sections: readonly string[]; readonly message: string }[] = [];
  for (const { service, sections } of reloads) {
    const [domain, name] = service.split('.') as [string, string];
    const calls =
      service === LOGGER_SERVICE
        ? loggerCalls(await texts.loggerLevels(before), await texts.loggerLevels(after))
        : [{ domain, service: name, data: {} }];
    for (const call of calls) {
      const message = await attempt(services, client, call, signal);
      if (message !== undefined) failures.push({ sections, message });
    }
  }
  if (failures.length === 0) return undefined;
  return {
    sections: [...new Set(failures.flatMap(({ sections }) => sections))],
    message: failures.map(({ message }) => message).join(' '),
  };
}

/**
 * Calls a service, with retries.
 *
 * @returns the last error, undefined when the call succeeded
 */
async function attempt(
  { clock, log }: Pick<Services, 'clock' | 'log'>,
  client: HubClient,
  call: ServiceCall,
  signal: AbortSignal,
): Promise<string | undefined> {
  for (let count = 1; ; count++) {
    const fields = { service: `${call.domain}.${call.service}`, reloadId: randomUUID(), attempt: count };
    try {
      await carryOut(client, call);
      log.info(fields, 'reloaded sections of the configuration');
      return undefined;
    } catch (error) {
      // The reconcile of the Hub handles rejected tokens and bans, and further requests would make them worse.
      if (!(error instanceof HubError) || error instanceof TokenRejected || error instanceof HubBanned)
        throw error;
      log.warn({ ...fields, error }, 'failed to reload sections of the configuration');
      if (count === RELOAD_ATTEMPTS) return `${fields.service} failed: ${error.message}.`;
      await clock.sleep(RELOAD_ATTEMPT_PAUSE, signal);
    }
  }
}

function carryOut(client: HubClient, { domain, service, data }: ServiceCall): Promise<void> {
  const kind = CONFIG_ENTITY_KINDS.find((each) => each === domain);
  // The hub announces reloads of these services. This method marks them as the operator's own.
  return kind && service === 'reload'
    ? client.entities.reload(kind)
    : callService(client.rest, domain, service, data);
}

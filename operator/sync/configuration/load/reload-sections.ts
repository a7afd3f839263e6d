import { randomUUID } from 'node:crypto';
import { HubBanned, HubError, TokenRejected } from '../../../client/connection/errors';
import { CONFIG_ENTITY_KINDS } from '../../../client/connection/config-entity';
import type { HubClient } from '../../../client/hub-client';
import { callService } from '../../../client/services';
import { RELOAD_ATTEMPT_PAUSE, RELOAD_ATTEMPTS } from '../../../base/limits';
import type { Services } from '../../services';
import type { Files } from '../generate/config-files';
import { loggerCalls, readLoggerLevels, type ServiceCall } from './logger-levels';
import { LOGGER_SERVICE, type SectionReload } from './reload-decision';

/** The sections that the hub failed to reload, and its error; undefined: none. */
export interface ReloadFailure {
  readonly sections: readonly string[];
  readonly message: string;
}

/** Files before and after, for sections without a reload, which are set value by value. */
export interface Change {
  readonly before: Files;
  readonly after: Files;
}

/**
 * Calls the services that load these sections, each up to three times. The hub answers when it has finished. All are
 * called even if one fails.
 */
export async function reloadSections(
  { clock, log }: Pick<Services, 'clock' | 'log'>,
  client: HubClient,
  reloads: readonly SectionReload[],
  change: Change,
  signal: AbortSignal,
): Promise<ReloadFailure | undefined> {
  const failures: ReloadFailure[] = [];
  for (const { service, sections } of reloads) {
    for (const call of callsOf(service, change)) {
      const message = await attempt(call);
      if (message !== undefined) failures.push({ sections, message });
    }
  }
  if (failures.length === 0) return undefined;
  return {
    sections: [...new Set(failures.flatMap(({ sections }) => sections))],
    message: failures.map(({ message }) => message).join(' '),
  };

  /** The words of the last failure; undefined: it succeeded. */
  async function attempt(call: ServiceCall): Promise<string | undefined> {
    for (let count = 1; ; count++) {
      const fields = { service: `${call.domain}.${call.service}`, reloadId: randomUUID(), attempt: count };
      try {
        await carryOut(client, call);
        log.info(fields, 'reloaded sections of the configuration');
        return undefined;
      } catch (error) {
        // The Hub repairs the first two, and asking again makes them worse.
        if (!(error instanceof HubError) || error instanceof TokenRejected || error instanceof HubBanned)
          throw error;
        log.warn({ ...fields, error }, 'failed to reload sections of the configuration');
        if (count === RELOAD_ATTEMPTS) return `${fields.service} failed: ${error.message}.`;
        await clock.sleep(RELOAD_ATTEMPT_PAUSE, signal);
      }
    }
  }
}

function callsOf(service: string, { before, after }: Change): ServiceCall[] {
  if (service === LOGGER_SERVICE) return loggerCalls(readLoggerLevels(before), readLoggerLevels(after));
  const dot = service.indexOf('.');
  return [{ domain: service.slice(0, dot), service: service.slice(dot + 1), data: {} }];
}

function carryOut(client: HubClient, { domain, service, data }: ServiceCall): Promise<void> {
  const kind = CONFIG_ENTITY_KINDS.find((each) => each === domain);
  // Reloads of these services are announced by the hub, and must not be taken for a person's.
  return kind && service === 'reload'
    ? client.entities.reload(kind)
    : callService(client.rest, domain, service, data);
}

import { randomUUID } from 'node:crypto';
import type { Clock } from '../../base/clock';
import { shownMessage } from '../../base/errors';
import { RELOAD_ATTEMPT_PAUSE, RELOAD_ATTEMPTS } from '../../base/limits';
import type { Logger } from '../../base/log';
import { HubBanned, TokenRejected } from '../connection/errors';

export type ReloadResult =
  /** `startedAt` is a time of the monotonic clock. Every write that ended before it has taken effect. */
  | { readonly ok: true; readonly reloadId: string; readonly startedAt: number }
  | {
      readonly ok: false;
      readonly reason: 'ReloadFailed' | 'ComponentNotLoaded';
      readonly message: string;
      /** The id of the last attempt. */
      readonly reloadId: string;
    };

/** The operations that {@link reloadWithRetry} needs. */
export interface Attempts {
  /** Whether the hub has loaded a component. */
  isLoaded(component: string): Promise<boolean>;
  /** Reloads the component; resolves when the hub has finished. */
  reload(component: string): Promise<void>;
  readonly clock: Clock;
  readonly log: Logger;
}

/**
 * Reloads a component (rules.md, "Reload"). Checks that the component is loaded and makes up to three
 * attempts, 5 s apart, each with its own id in log and result. Never rejects.
 *
 * @param closing when aborted, no further attempt is made
 */
export async function reloadWithRetry(
  component: string,
  options: Attempts,
  closing: AbortSignal,
): Promise<ReloadResult> {
  const { clock, log } = options;
  for (let attempt = 1; ; attempt++) {
    const result = await reload(component, options, attempt);
    if (result.ok || result.final || attempt === RELOAD_ATTEMPTS) return result;
    try {
      await clock.sleep(RELOAD_ATTEMPT_PAUSE, closing);
    } catch (error) {
      log.debug({ component, reloadId: result.reloadId, error }, 'stopped retrying reload');
      return result;
    }
  }
}

async function reload(
  component: string,
  options: Attempts,
  attempt: number,
): Promise<ReloadResult & { readonly final?: boolean }> {
  const { clock, log } = options;
  const reloadId = randomUUID();
  const startedAt = clock.monotonic();
  const fields = { component, reloadId, attempt };
  try {
    if (!(await options.isLoaded(component))) {
      const message = `the hub has not loaded ${component}`;
      log.warn(fields, 'component to reload is not loaded');
      return { ok: false, reason: 'ComponentNotLoaded', message, reloadId };
    }
    await options.reload(component);
    log.info({ ...fields, milliseconds: Math.round(clock.monotonic() - startedAt) }, 'reloaded component');
    return { ok: true, reloadId, startedAt };
  } catch (error) {
    log.warn({ ...fields, error }, 'failed to reload component');
    // Neither problem ends within seconds, and each attempt with a rejected token counts toward a ban.
    const final = error instanceof TokenRejected || error instanceof HubBanned;
    return { ok: false, reason: 'ReloadFailed', message: shownMessage(error), reloadId, final };
  }
}

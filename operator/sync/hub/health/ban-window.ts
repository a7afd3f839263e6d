import { timestamp } from '../../../base/clock';
import type { HubStatus } from '../../../kinds/index';
import { BAN_COOLDOWN, BAN_RESTARTS, BAN_WINDOW } from '../../../base/limits';

/** The restarts that bans have caused. Times are milliseconds since the epoch. */
export interface BanHistory {
  /** Restarts of all time. */
  readonly count: number;
  readonly lastRestart?: number | undefined;
  /** Opened by a restart; closed by the first authenticated answer of the hub, or after BAN_WINDOW. */
  readonly window?: { readonly startedAt: number; readonly restarts: number } | undefined;
}

export type BanDecision =
  /** Restart now; `history` counts that restart. */
  | { readonly type: 'restart'; readonly history: BanHistory }
  /** The last restart is too recent. `after`: milliseconds. */
  | { readonly type: 'cooldown'; readonly after: number }
  /** The limit of this window is reached. `after`: milliseconds until the window ends. */
  | { readonly type: 'exhausted'; readonly after: number };

/**
 * Whether a hub that has banned the operator may be restarted (rules.md, "Ban recovery"). The cooldown is checked first
 * and no success shortens it. Otherwise a ban that the operator causes itself would restart the hub for ever.
 */
export function decideBanRestart({ count, lastRestart, window }: BanHistory, now: number): BanDecision {
  // A restart in the future means that the clock was set back; one far in the future is ignored.
  const inCooldown = lastRestart !== undefined && Math.abs(now - lastRestart) < BAN_COOLDOWN;
  if (inCooldown) return { type: 'cooldown', after: lastRestart + BAN_COOLDOWN - now };
  const open =
    window && Math.abs(now - window.startedAt) < BAN_WINDOW ? window : { startedAt: now, restarts: 0 };
  if (open.restarts >= BAN_RESTARTS) return { type: 'exhausted', after: open.startedAt + BAN_WINDOW - now };
  return {
    type: 'restart',
    history: { count: count + 1, lastRestart: now, window: { ...open, restarts: open.restarts + 1 } },
  };
}

/** The history in status, from which a restarted operator continues. */
export function banHistoryOf({ selfUnbanCount = 0, lastSelfUnban, banWindow }: HubStatus): BanHistory {
  const startedAt = time(banWindow?.startedAt);
  return {
    count: selfUnbanCount,
    lastRestart: time(lastSelfUnban),
    window: startedAt === undefined ? undefined : { startedAt, restarts: banWindow?.restarts ?? 0 },
  };
}

/** The history as fields of status. Times are rounded up to whole seconds, so that no cooldown ends early. */
export function banStatus({ count, lastRestart, window }: BanHistory) {
  return {
    selfUnbanCount: count,
    ...(lastRestart !== undefined && { lastSelfUnban: roundedUp(lastRestart) }),
    banWindow: window ? { startedAt: roundedUp(window.startedAt), restarts: window.restarts } : null,
  };
}

const roundedUp = (milliseconds: number): string => timestamp(milliseconds + 999);

function time(text: string | undefined): number | undefined {
  return text === undefined ? undefined : Date.parse(text);
}

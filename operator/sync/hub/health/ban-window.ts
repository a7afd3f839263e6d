import { timestamp } from '../../../clock';
import type { HubStatus } from '../../../kinds/index';
import { BAN_COOLDOWN, BAN_RESTARTS, BAN_WINDOW } from '../../../limits';

/** What is known of the restarts that bans have caused. Times are milliseconds since the epoch. */
export interface BanHistory {
  /** All there ever were. */
  readonly count: number;
  readonly lastRestart?: number | undefined;
  /** Opened by a restart; ends with the first authenticated answer of the hub, or with its time. */
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
 * Whether a hub that has banned us may be restarted ("Ban self-recovery" and "Limits", spec.md): at most 3 times in a
 * window of 30 minutes, and at least 5 minutes apart. The cooldown comes first, and no success shortens it: else a
 * ban that we bring about ourselves would go round for ever (kinds.md 0.5).
 */
export function decideBanRestart({ count, lastRestart, window }: BanHistory, now: number): BanDecision {
  // A time in the future is one of a clock that was put back; one far in the future is not believed.
  const cooling = lastRestart !== undefined && Math.abs(now - lastRestart) < BAN_COOLDOWN;
  if (cooling) return { type: 'cooldown', after: lastRestart + BAN_COOLDOWN - now };
  const open =
    window && Math.abs(now - window.startedAt) < BAN_WINDOW ? window : { startedAt: now, restarts: 0 };
  if (open.restarts >= BAN_RESTARTS) return { type: 'exhausted', after: open.startedAt + BAN_WINDOW - now };
  return {
    type: 'restart',
    history: { count: count + 1, lastRestart: now, window: { ...open, restarts: open.restarts + 1 } },
  };
}

/** What the status remembers, so that an operator that starts anew goes on where the last one was. */
export function banHistoryOf({ selfUnbanCount = 0, lastSelfUnban, banWindow }: HubStatus): BanHistory {
  const startedAt = time(banWindow?.startedAt);
  return {
    count: selfUnbanCount,
    lastRestart: time(lastSelfUnban),
    window: startedAt === undefined ? undefined : { startedAt, restarts: banWindow?.restarts ?? 0 },
  };
}

/** The fields of the status; times are rounded up to whole seconds, so that no cooldown ends early. */
export function banStatus({ count, lastRestart, window }: BanHistory) {
  return {
    selfUnbanCount: count,
    ...(lastRestart !== undefined && { lastSelfUnban: roundedUp(lastRestart) }),
    banWindow: window ? { startedAt: roundedUp(window.startedAt), restarts: window.restarts } : null,
  };
}

const roundedUp = (milliseconds: number): string => timestamp(milliseconds + 999);

function time(written: string | undefined): number | undefined {
  return written === undefined ? undefined : Date.parse(written);
}

import { POD_NOT_READY_REQUEUE, REJECTED_WRITE_RETRY_INTERVAL, RESYNC } from '../../base/limits';
import type { CachedEntity } from './entity-cache';
import type { ConfigEntitySpec } from './entity-type';

/** Milliseconds within which the hub usually loads a write. */
export const USUAL_LOAD_TIME = 300;

/** Milliseconds after which a write that is not loaded counts as an error. */
const LONGEST_LOAD_TIME = 10_000;

/** How a written definition is loaded (rules.md, "Reload"). */
export type LoadPolicy =
  /** The operator reloads the component. */
  | 'OperatorReloads'
  /**
   * For scripts, and with `autoReload: false`, the hub itself loads definitions that are written by its API.
   * The hub reports each script that it has loaded, but no other definition.
   */
  | 'HubLoads'
  /**
   * With `autoReload: false`, a definition that is delivered as a file is loaded by the next start of the
   * hub, or a user's reload.
   */
  | 'NextStart';

/** The next step for a definition that is in the hub's file but not in use. */
export type LoadStep =
  | { readonly type: 'Reload' }
  | { readonly type: 'Wait'; readonly after: number }
  /**
   * The hub could not be reloaded or must not be, and has not started since. It loads the definition at its
   * next start.
   */
  | { readonly type: 'AtNextStart' }
  /**
   * The hub has loaded its files without the definition. `after`: milliseconds until the next check, if
   * before the resync.
   */
  | { readonly type: 'NotLoaded'; readonly after?: number };

export function loadPolicyOf(
  { reloads }: { readonly reloads: boolean },
  spec: ConfigEntitySpec,
  { isShared }: { readonly isShared: boolean },
): LoadPolicy {
  if (!isShared) return spec.autoReload || !reloads ? 'OperatorReloads' : 'NextStart';
  return reloads && spec.autoReload ? 'OperatorReloads' : 'HubLoads';
}

export function nextLoadStep(policy: LoadPolicy, cached: CachedEntity, now: number): LoadStep {
  switch (policy) {
    case 'OperatorReloads':
      return afterReload(cached, now);
    case 'HubLoads':
      return waitForHub(cached, now);
    case 'NextStart':
      return afterStart(cached, now);
  }
}

/** A component is reported as loaded slightly before its definitions, so a short wait follows. */
function afterStart({ waitsSince }: CachedEntity, now: number): LoadStep {
  const endedAt = waitsSince?.endedAt;
  if (endedAt === undefined) return { type: 'AtNextStart' };
  const after = endedAt + LONGEST_LOAD_TIME - now;
  return after > 0 ? { type: 'Wait', after } : { type: 'NotLoaded' };
}

function afterReload(cached: CachedEntity, now: number): LoadStep {
  const { reload } = cached.operation ?? {};
  if (reload?.ok || cached.observed.source === 'reload') return { type: 'NotLoaded' };
  return reload || hasJustFailed(cached, now) ? { type: 'AtNextStart' } : { type: 'Reload' };
}

/**
 * The hub does not report a failed load, and each check reads its file, so the checks become less frequent.
 */
function waitForHub(cached: CachedEntity, now: number): LoadStep {
  const { lastWriteAt = -Infinity, observed } = cached;
  const waited = now - lastWriteAt;
  if (waited < LONGEST_LOAD_TIME) return { type: 'Wait', after: Math.max(USUAL_LOAD_TIME, waited / 2) };
  const known = lastWriteAt > -Infinity ? waited : now - observed.at;
  return { type: 'NotLoaded', after: Math.min(Math.max(POD_NOT_READY_REQUEUE, known), RESYNC / 2) };
}

/**
 * Reports whether a reload failed a short time ago. It is then retried only after a while, not in every
 * reconcile.
 */
export function hasJustFailed({ reloadFailedAt }: CachedEntity, now: number): boolean {
  return reloadFailedAt !== undefined && now - reloadFailedAt < REJECTED_WRITE_RETRY_INTERVAL;
}

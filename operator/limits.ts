/**
 * Every number that the specification fixes, each with the sentence that it comes from (`spec.md`), and the numbers
 * that `kinds.md` and `design.md` fix. Durations are milliseconds.
 */

const SECOND = 1_000;
const MINUTE = 60 * SECOND;

// --- issue 5: automations, scenes, scripts ---

/** "100 edits to one automation in 10 s: the first at once, then at most one in 2 s, the last one wins". */
export const MIN_WRITE_INTERVAL = 2 * SECOND;
/** What the hub has refused is not sent again before the next resync, unless the spec or the hub changes. */
export const REJECTED_WRITE_RETRY_INTERVAL = 8 * MINUTE;

// --- spec.md, "Bootstrap state machine" and "Errors" ---

/** "Hub pod not ready: requeue after 10 s". Also the pace at which an unreachable hub is asked again. */
export const POD_NOT_READY_REQUEUE = 10 * SECOND;
/** "Hub API not loaded (HTTP 404 on the readiness probe): requeue after 5 s". */
export const API_NOT_LOADED_REQUEUE = 5 * SECOND;
/** A step of the bootstrap that the hub refuses or fails is tried again after this: no number is given. */
export const BOOTSTRAP_RETRY = 2 * SECOND;
/** "Floor or label not ready for an area: requeue after 30 s". */
export const AREA_DEPENDENCY_REQUEUE = 30 * SECOND;
/**
 * "A dependent resource waits (requeues) until its dependency is ready": no number is given. The arrival of the
 * dependency works its dependents at once; this is the fallback.
 */
export const DEPENDENCY_REQUEUE = 30 * SECOND;

// --- spec.md, "Hot-reload with retry" ---

/** "Make up to 3 attempts with 5 s between them". */
export const RELOAD_ATTEMPTS = 3;
export const RELOAD_ATTEMPT_PAUSE = 5 * SECOND;

// --- kinds.md 1, finalizers ---

/** "unreachable: one try of at most 5 s". */
export const FINALIZER_TRY = 5 * SECOND;
/** "then all others of that hub finish without trying for 30 s". */
export const FINALIZER_SKIP = 30 * SECOND;

// --- design.md and kinds.md 1, the runtime ---

/** An unchanged resource is looked at again this often, give or take RESYNC_JITTER of it. */
export const RESYNC = 10 * MINUTE;
export const RESYNC_JITTER = 0.1;
/** Backoff of a pass that failed: doubles from the first to the last, with jitter. */
export const BACKOFF_FIRST = 5;
export const BACKOFF_LAST = 1_000 * SECOND;
/** "A pass may await one answer of the hub (up to 30 s)": one that takes much longer is given up and said to be stuck. */
export const RECONCILE_TIMEOUT = 2 * MINUTE;
/** SIGTERM finishes what is being worked within this time. */
export const STOP_DEADLINE = 20 * SECOND;

// --- spec.md, "HubConfiguration reload decision" ---

/**
 * "A debounce guard in the Hub reconciler stops a burst of hash updates from starting several consecutive rollouts":
 * a new hash must have stood this long before it reaches the pod template.
 */
export const ROLLOUT_DEBOUNCE = 3 * SECOND;

// --- spec.md, "Limits": ban self-recovery ---

/** "Ban-recovery restarts: at most 3 within a 30-minute window". */
export const BAN_RESTARTS = 3;
export const BAN_WINDOW = 30 * MINUTE;
/** "Cooldown between recovery restarts: at least 5 minutes". */
export const BAN_COOLDOWN = 5 * MINUTE;

// --- issue 6, "Truth": within 30 s a condition says that a hub hangs, has banned us or came back in recovery mode ---

/** A hub is asked this often whether it is still what its status says: an open WebSocket hides a ban. */
export const HEALTH_CHECK_INTERVAL = 10 * SECOND;
/** How long its answer may take; the pass that follows a silence asks once more, and longer. */
export const HEALTH_CHECK_TIMEOUT = 5 * SECOND;

// --- kinds.md 2, `tokenLifespanDays`: no number is given ---

/** A token is replaced when a tenth of its life is left, or this much of a long one. */
export const TOKEN_RENEWAL = 30 * 24 * 60 * MINUTE;

/**
 * The numbers of rules.md, "Limits", each with the rule that it belongs to. Durations are milliseconds.
 */

const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;

// --- Queue: rules.md, "Queue" ---

/** An unchanged resource is reconciled again after this time, give or take RESYNC_JITTER of it. */
export const RESYNC = 10 * MINUTE;
export const RESYNC_JITTER = 0.1;
/** Backoff of a reconcile that failed: doubles from the first to the last, with jitter. */
export const BACKOFF_FIRST = 5;
export const BACKOFF_LAST = 1_000 * SECOND;
/** A reconcile that takes longer frees its worker: it waits for a hub or for the API server. */
export const SLOW_RECONCILE = SECOND;
/** After a reconcile that took this long, the resources of its hub are reconciled one at a time. */
export const HANGING_RECONCILE = 10 * SECOND;
/** A reconcile awaits at most one answer of the hub (30 s). One that takes much longer is abandoned. */
export const RECONCILE_TIMEOUT = 2 * MINUTE;
/** While changed resources wait for a worker, events and the status of an operation in progress wait for this long at most. */
export const BUSY_DEFERRAL = 30 * SECOND;
/** A transient error of the API server that lasts this long is reported in the conditions. */
export const TRANSIENT_FAILURE_REPORT = MINUTE;
/** After SIGTERM, writes to hubs that answer, and their status updates, are finished within this time. */
export const STOP_DEADLINE = 20 * SECOND;
/**
 * After SIGTERM, writes to a hub that does not answer within this time are abandoned, so that another replica can lead.
 */
export const STOP_HUB_TIMEOUT = 1 * SECOND;
/** Reconciles that still run this long after the last write are aborted. */
export const STOP_RECONCILE_GRACE = 1 * SECOND;
/** Afterwards the lease is released within this time. */
export const LEASE_RELEASE_LIMIT = 8 * SECOND;
/**
 * Afterwards connections and timers that are left keep the process alive for this time at most: with STOP_DEADLINE and
 * LEASE_RELEASE_LIMIT less than the pod's grace period of 30 s.
 */
export const EXIT_DELAY = 1 * SECOND;

/** After a bug the process ends within this time, also if it cannot stop: it must not live on without watches. */
export const FAULT_EXIT = STOP_DEADLINE + 10 * SECOND;

// --- Waiting: rules.md, "Waiting is not an error" ---

/** The pod of the hub is not ready, or the hub does not answer. */
export const POD_NOT_READY_REQUEUE = 10 * SECOND;
/**
 * A child whose Hub is not usable: between these two. A change of the Hub enqueues it at once; this is the fallback.
 */
export const HUB_NOT_READY_POLL = [5 * MINUTE, 10 * MINUTE] as const;
/** A child that loses the connection to a usable hub leaves the report to the Hub for this long. */
export const HUB_REPORT_WAIT = 30 * SECOND;
/** The API of the hub is not loaded. */
export const API_NOT_LOADED_REQUEUE = 5 * SECOND;
/** A floor or a label of an area is not ready. */
export const AREA_DEPENDENCY_REQUEUE = 30 * SECOND;
/** Another dependency is missing. Its arrival enqueues its dependents at once; this is the fallback. */
export const DEPENDENCY_REQUEUE = 30 * SECOND;
/** The hub rejected or failed a step of the bootstrap. The pauses grow from the first to the last: rules.md, "Bootstrap". */
export const BOOTSTRAP_RETRY = [2 * SECOND, 5 * MINUTE] as const;

/**
 * An object with the desired name that is being deleted is checked again after this time: not every kind of object is
 * watched, and the name must be used within 5 s of the deletion.
 */
export const NAME_CONFLICT_RETRY = 3 * SECOND;

/** An immutable object of ours is replaced once in this time: a policy of the cluster may make each new one immutable. */
export const IMMUTABLE_REPLACEMENT_PAUSE = HOUR;

// --- Writes to the hub: rules.md, "Only differences are written" and "Reload" ---

/** Writes of one object are at least this far apart. The first one is sent at once, and the last one wins. */
export const MIN_WRITE_INTERVAL = 2 * SECOND;
/** A payload that the hub rejected is sent again after this time, or when the spec or the hub changes. */
export const REJECTED_WRITE_RETRY_INTERVAL = 8 * MINUTE;
export const RELOAD_ATTEMPTS = 3;
/** Pause between two attempts. */
export const RELOAD_ATTEMPT_PAUSE = 5 * SECOND;

// --- Integrations: rules.md, "Integrations" ---

/** One request of a config flow. Some integrations let a person at the device wait for so long. */
export const FLOW_REQUEST_LIMIT = 10 * MINUTE;
/** A config flow sends no further answer after this time. */
export const FLOW_LIMIT = 10 * MINUTE;
/** A failed connection of an integration is tried again after the first of these, doubled up to the last. */
export const FLOW_CONNECTION_RETRY = [10 * SECOND, 10 * MINUTE] as const;
/** Other failures that may pass are tried again after this time. */
export const FLOW_RETRY = 8 * MINUTE;
/** An event of the hub makes such a failure due at once for the first time, and then this long after the last attempt. */
export const FLOW_RETRY_AFTER_EVENT = 6 * MINUTE;
/** Secrets that an integration answers with an unknown error are sent this often. */
export const UNKNOWN_ERROR_ATTEMPTS = 3;

// --- Finalizers: rules.md, "Finalizers" ---

/** A hub that answers nothing for this long is not waited for. */
export const FINALIZER_TRY = 5 * SECOND;
/** Resources may be applied this long after their Hub: only then do objects without one count as left behind. */
export const LEFT_BEHIND_GRACE = MINUTE;
/** A removal of such objects that failed is tried again after this time. */
export const LEFT_BEHIND_RETRY = 5 * MINUTE;
/** A removal that waits for longer says so in the conditions of its resource. */
export const REMOVAL_REPORT = 10 * SECOND;
/** For this time after it, the finalizers of all resources of that hub are released without an attempt. */
export const FINALIZER_SKIP = 30 * SECOND;
/**
 * An object that others in the hub refer to stays this long for a resource with another name: some tools delete the old
 * resource before they apply the new one.
 */
export const HAND_OVER_GRACE = 3 * SECOND;
/** A notification that a change was taken back stays this long in the hub. */
export const HOUSEHOLD_NOTICE = 24 * HOUR;
export const HOUSEHOLD_NOTICE_CHECK = HOUR;
/** A pod that has not ended this long after its grace period says what holds it. */
export const POD_TERMINATION_REPORT = 2 * MINUTE;
/** A deleted Hub waits for its children to be deleted as well. */
export const HUB_DELETION_GRACE = 5 * SECOND;
/** Interval of the check whether they are deleted. */
export const HUB_DELETION_POLL = SECOND;

// --- Rollout: rules.md, "Rollout and debounce" ---

/** A new hash must be this old before it reaches the pod template: a burst of changes causes one rollout. */
export const ROLLOUT_DEBOUNCE = 3 * SECOND;
/** Continuous changes delay a rollout by at most this. */
export const ROLLOUT_DEBOUNCE_LIMIT = 30 * SECOND;
/** While a restart is due that people have asked for, the hub is given nothing new for this long at most. */
export const RESTART_HOLD = 5 * MINUTE;
/** A restart waits this long for a hub that is loading its integrations. It waits without limit for the migration of a database. */
export const LONGEST_START = 10 * MINUTE;
/** A restart waits this long for a backup that the hub makes or restores: one that never ends must not keep a change back. */
export const LONGEST_BACKUP = 60 * MINUTE;
/** Each of the hubs that the operator restarts one after another has its turn for this time at most. */
export const ROLLOUT_TURN = 5 * MINUTE;

// --- Foreign texts: rules.md, "Foreign texts" ---

/** Processor time in which a file is read, and all files of a resource with it. A second try has twice as much. */
export const TEXT_LIMIT = 5 * SECOND;
/** All files of a resource have this much more for each MiB. */
export const TEXT_LIMIT_PER_MIB = 2 * SECOND;
/** The process that reads texts is ended when it had nothing to do for this long. */
export const TEXT_PROCESS_IDLE = 10 * SECOND;
/** A reconcile waits this long for its text to be read; it is requeued when that has ended. */
export const TEXT_WAIT = 5 * SECOND;

// --- Configuration: rules.md, "Reload or restart" ---

/** The kubelet is asked this often to refresh the volume of a changed configuration. */
export const VOLUME_REFRESH_INTERVAL = SECOND;
/** A running hub that does not read the mounted files within this time reads others. */
export const CONTENT_SEEN_LIMIT = 30 * SECOND;
/** A change waits until a hub has been away this long, to be checked by it, before it is given to the next pod. */
export const HUB_RETURN_LIMIT = MINUTE;
/** A change waits this long for a hub that starts, from the start of its container. */
export const HUB_START_LIMIT = 10 * MINUTE;
/** Equal settings of the web server are sent to the hub this often, since it restarts for each time. */
export const HTTP_SETTINGS_ATTEMPTS = 2;
/** A reload of the configuration requeues its resource when it has ended; this is the fallback. */
export const CONFIGURATION_LOAD_REQUEUE = 30 * SECOND;

// --- Ban: rules.md, "Ban recovery" ---

/** At most this many restarts within BAN_WINDOW. */
export const BAN_RESTARTS = 3;
export const BAN_WINDOW = 30 * MINUTE;
/** Shortest time between two restarts. */
export const BAN_COOLDOWN = 5 * MINUTE;

// --- Health: rules.md, "Health of a hub" ---

/** Interval of the health checks of a running hub: an open WebSocket does not show a ban. */
export const HEALTH_CHECK_INTERVAL = 10 * SECOND;
/** The connections to the hubs of deleted Hubs are closed this often. */
export const DELETED_HUBS_CHECK = 30 * SECOND;
/** Timeout of a health check. The reconcile after a missing answer checks again with a longer timeout. */
export const HEALTH_CHECK_TIMEOUT = 5 * SECOND;

// --- Token: rules.md, "Token" ---

/** A token is replaced when a tenth of its lifetime is left, at most this much. */
export const TOKEN_RENEWAL = 30 * 24 * 60 * MINUTE;

// --- Webhook: rules.md, "Certificate of the webhook" ---

const DAY = 24 * 60 * MINUTE;
/** Validity of a certificate that the operator makes for its webhook. */
export const WEBHOOK_CERTIFICATE_LIFETIME = 90 * DAY;
/** The certificate is replaced when this share of its validity is over. */
export const WEBHOOK_CERTIFICATE_RENEWAL = 2 / 3;
/** The certificate is valid before it was made, for API servers whose clocks are slow. */
export const WEBHOOK_CLOCK_SKEW = 60 * MINUTE;
/** The certificate is checked again this often, also if no event of the cluster demands it. */
export const WEBHOOK_CERTIFICATE_CHECK = 60 * MINUTE;
/** Certificate and CA are written at most this often: another program may change them each time. */
export const WEBHOOK_WRITE_INTERVAL = 10 * SECOND;

// --- Community repositories: rules.md, "Community repositories" ---

/** An archive, with all redirects, is downloaded within this time. */
export const DOWNLOAD_TIMEOUT = 2 * MINUTE;
export const DOWNLOAD_REDIRECTS = 5;
/** Bytes of an archive. It is kept in memory while it is read. */
export const ARCHIVE_SIZE = 32 * 1024 * 1024;
/** Files and folders in an archive. */
export const ARCHIVE_ENTRIES = 10_000;
/** Bytes of all files in an archive. */
export const ARCHIVE_UNPACKED_SIZE = 256 * 1024 * 1024;
/** Bytes of a file for each byte that it takes in the archive. Text has about 10. */
export const ARCHIVE_RATIO = 200;
/** Files that one repository installs, and their bytes. */
export const INSTALLED_FILES = 2_000;
export const INSTALLED_SIZE = 24 * 1024 * 1024;
/** Bytes of the same files as they are sent through the API server, compressed. */
export const INSTALLED_PACKED_SIZE = 10 * 1024 * 1024;
/** A code host that does not answer is asked again after this time. */
export const DOWNLOAD_RETRY = MINUTE;
/**
 * An archive that the code host does not have is asked for again after this time, or when the spec changes, and a failed
 * installation is tried again.
 */
export const DOWNLOAD_REJECTED_RETRY = 8 * MINUTE;
/** The pod that installs has ended within this time, or is replaced. */
export const INSTALLER_TIMEOUT = 3 * MINUTE;
/** A removal gives up after this time. */
export const INSTALLED_REMOVAL_TIMEOUT = 90 * SECOND;
/** While a pod installs, its resource is reconciled after this time at the latest. */
export const INSTALLER_POLL = 10 * SECOND;

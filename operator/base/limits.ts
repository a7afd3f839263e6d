/** The numbers of rules.md, "Limits". Each section names its rule. Durations are milliseconds. */

const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;

// --- Queue: rules.md, "Queue" ---

/** Interval at which an unchanged resource is reconciled again, varied at random by RESYNC_JITTER. */
export const RESYNC = 10 * MINUTE;
export const RESYNC_JITTER = 0.1;
/** Backoff of a reconcile that failed: doubles from the first to the last, with jitter. */
export const BACKOFF_FIRST = 5;
export const BACKOFF_LAST = 1_000 * SECOND;
/**
 * A reconcile that takes longer no longer counts as one of the workers: it waits for a hub or for the API
 * server.
 */
export const SLOW_RECONCILE = SECOND;
/** After a reconcile that took this long, the resources of its hub are reconciled one at a time. */
export const HANGING_RECONCILE = 10 * SECOND;
/**
 * A reconcile that runs longer is abandoned. It awaits at most one answer of the hub, which takes up to 30 s.
 */
export const RECONCILE_TIMEOUT = 2 * MINUTE;
/**
 * While changed resources wait for a worker, events and the progress of operations in status are delayed by
 * at most this.
 */
export const BUSY_DEFERRAL = 30 * SECOND;
/** A transient error of the API server that lasts this long is reported in the conditions. */
export const TRANSIENT_FAILURE_REPORT = MINUTE;
/**
 * After SIGTERM, writes to hubs that answer, and the status updates for them, are finished within this time.
 */
export const STOP_DEADLINE = 20 * SECOND;
/**
 * After SIGTERM, writes to a hub that does not answer within this time are abandoned, so that another replica can lead.
 */
export const STOP_HUB_TIMEOUT = 1 * SECOND;
/** Reconciles that still run this long after the last write are aborted. */
export const STOP_RECONCILE_GRACE = 1 * SECOND;
/** After the reconciles have ended, the lease is released within this time. */
export const LEASE_RELEASE_LIMIT = 8 * SECOND;
/**
 * After the release of the lease, open connections and timers keep the process alive for this time at most.
 * The sum with STOP_DEADLINE and LEASE_RELEASE_LIMIT is less than the pod's grace period of 30 s.
 */
export const EXIT_DELAY = 1 * SECOND;

/**
 * After a bug the process exits within this time even if it cannot stop in order: without watches it must not
 * continue.
 */
export const FAULT_EXIT = STOP_DEADLINE + 10 * SECOND;

// --- Waiting: rules.md, "Waiting is not an error" ---

/** Requeue of a resource whose hub's pod is not ready, or whose hub does not answer. */
export const POD_NOT_READY_REQUEUE = 10 * SECOND;
/**
 * Range of the random requeue of a child whose Hub is not usable. A change of the Hub enqueues the child at
 * once; this is the fallback.
 */
export const HUB_NOT_READY_POLL = [5 * MINUTE, 10 * MINUTE] as const;
/**
 * A child that loses the connection to a usable hub leaves it to the Hub to report the outage for this long.
 */
export const HUB_REPORT_WAIT = 30 * SECOND;
/** Requeue while the part of the hub's API that a resource needs is not loaded yet. */
export const API_NOT_LOADED_REQUEUE = 5 * SECOND;
/** Requeue of an area while its floor or one of its labels is not ready. */
export const AREA_DEPENDENCY_REQUEUE = 30 * SECOND;
/**
 * Requeue while another dependency is missing. Its creation enqueues the resource at once; this is the
 * fallback.
 */
export const DEPENDENCY_REQUEUE = 30 * SECOND;
/**
 * First and longest pause after the hub rejected or failed a step of the bootstrap: rules.md, "Bootstrap".
 */
export const BOOTSTRAP_RETRY = [2 * SECOND, 5 * MINUTE] as const;

/**
 * An object with the desired name that is being deleted is checked again after this time. Not every kind of
 * object is watched, and the operator must reuse the name within 5 s of the deletion.
 */
export const NAME_CONFLICT_RETRY = 3 * SECOND;

/**
 * An immutable object of the operator is replaced at most this often: a policy of the cluster may make each
 * new one immutable.
 */
export const IMMUTABLE_REPLACEMENT_PAUSE = HOUR;

// --- Writes to the hub: rules.md, "Only differences are written" and "Reload" ---

/** Least time between two writes of one object. The first is sent at once; of later ones the last is sent. */
export const MIN_WRITE_INTERVAL = 2 * SECOND;
/** A payload that the hub rejected is sent again after this time, or when the spec or the hub changes. */
export const REJECTED_WRITE_RETRY_INTERVAL = 8 * MINUTE;
export const RELOAD_ATTEMPTS = 3;
/** Pause between two attempts of a reload. */
export const RELOAD_ATTEMPT_PAUSE = 5 * SECOND;

// --- References: rules.md, "References" ---

/** A hub that was started has this long to set up what automations refer to. */
export const HUB_SETTLE_TIME = 5 * MINUTE;
/** What a resource refers to may be away for this long. */
export const REFERENCES_GRACE = 30 * SECOND;
/** A hub whose answer failed is not asked for its names before this time has passed. */
export const REFERENCES_PAUSE = 5 * MINUTE;

// --- Integrations: rules.md, "Integrations" ---

/**
 * Timeout of one request of a config flow. Some integrations wait that long for a person to press a button on
 * a device.
 */
export const FLOW_REQUEST_LIMIT = 10 * MINUTE;
/** A config flow sends no further answer after this time. */
export const FLOW_LIMIT = 10 * MINUTE;
/**
 * First and longest delay before a config flow is tried again after its connection failed; the delay doubles.
 */
export const FLOW_CONNECTION_RETRY = [10 * SECOND, 10 * MINUTE] as const;
/** Delay after other failures of a config flow that may be temporary. */
export const FLOW_RETRY = 8 * MINUTE;
/**
 * The first event of the hub after such a failure causes a retry at once; later events, this long after the
 * last attempt.
 */
export const FLOW_RETRY_AFTER_EVENT = 6 * MINUTE;
/** Attempts with Secrets that an integration answers with an unknown error. */
export const UNKNOWN_ERROR_ATTEMPTS = 3;

// --- Finalizers: rules.md, "Finalizers" ---

/** A finalizer does not wait for a hub that answers nothing for this long. */
export const FINALIZER_TRY = 5 * SECOND;
/**
 * Resources may be applied this long after their Hub. Only then do objects in the hub without a resource
 * count as left behind.
 */
export const LEFT_BEHIND_GRACE = MINUTE;
/** A failed removal of objects that were left behind is tried again after this time. */
export const LEFT_BEHIND_RETRY = 5 * MINUTE;
/** After this time, the conditions of a resource say that its removal waits. */
export const REMOVAL_REPORT = 10 * SECOND;
/**
 * After a hub did not answer a finalizer, the finalizers of all its resources are released without an attempt
 * for this time.
 */
export const FINALIZER_SKIP = 30 * SECOND;
/**
 * When a resource is deleted, its object stays in the hub for this time if other objects refer to it, so that
 * a resource with another name can adopt it: some tools delete the old resource before they apply the new
 * one.
 */
export const HAND_OVER_GRACE = 3 * SECOND;
/** The notification in the hub that the operator undid a change is dismissed after this time. */
export const HOUSEHOLD_NOTICE = 24 * HOUR;
export const HOUSEHOLD_NOTICE_CHECK = HOUR;
/** A pod that still exists this long after its grace period is reported, with the cause. */
export const POD_TERMINATION_REPORT = 2 * MINUTE;
/** A deleted Hub waits this long for its children to be deleted too. */
export const HUB_DELETION_GRACE = 5 * SECOND;
/** Interval at which a deleted Hub checks whether its children are deleted. */
export const HUB_DELETION_POLL = SECOND;

// --- Rollout: rules.md, "Rollout and debounce" ---

/** A new hash must be this old before it reaches the pod template: a burst of changes causes one rollout. */
export const ROLLOUT_DEBOUNCE = 3 * SECOND;
/** Continuous changes delay a rollout by at most this. */
export const ROLLOUT_DEBOUNCE_LIMIT = 30 * SECOND;
/**
 * While a restart that a user has requested is due, the operator starts nothing new on the hub for at most
 * this long.
 */
export const RESTART_HOLD = 5 * MINUTE;
/** A restart waits this long for a hub that is loading its integrations. It waits without limit for the migration of a database. */
export const LONGEST_START = 10 * MINUTE;
/**
 * A restart waits this long for a backup that the hub makes or restores: a backup that never ends must not
 * block a change.
 */
export const LONGEST_BACKUP = 60 * MINUTE;
/** Hubs are restarted one after another; the next one does not wait longer than this for the one before. */
export const ROLLOUT_TURN = 5 * MINUTE;

// --- Foreign texts: rules.md, "Foreign texts" ---

/**
 * Processor time for reading one file, and together with {@link TEXT_LIMIT_PER_MIB} for all files of a
 * resource. A second try has twice as much.
 */
export const TEXT_LIMIT = 5 * SECOND;
/** Additional processor time for all files of a resource, for each MiB. */
export const TEXT_LIMIT_PER_MIB = 2 * SECOND;
/** The process that reads texts is ended after this time without work. */
export const TEXT_PROCESS_IDLE = 10 * SECOND;
/**
 * A reconcile waits this long for its text to be read; afterwards it is requeued when the reading has ended.
 */
export const TEXT_WAIT = 5 * SECOND;

// --- Configuration: rules.md, "Reload or restart" ---

/** Interval at which the operator makes the kubelet refresh the volume of a changed configuration. */
export const VOLUME_REFRESH_INTERVAL = SECOND;
/**
 * If a running hub does not read the mounted files within this time, the operator concludes that it reads
 * other files.
 */
export const CONTENT_SEEN_LIMIT = 30 * SECOND;
/**
 * A change waits this long for an unreachable hub to return and check it. Afterwards the next pod of the hub
 * gets the change unchecked.
 */
export const HUB_RETURN_LIMIT = MINUTE;
/** A change waits this long for a starting hub, counted from the start of its container. */
export const HUB_START_LIMIT = 10 * MINUTE;
/** Attempts with equal settings of the web server: the hub restarts for each attempt. */
export const HTTP_SETTINGS_ATTEMPTS = 2;
/**
 * Requeue of a resource whose configuration is being reloaded. The end of the reload requeues it sooner; this
 * is the fallback.
 */
export const CONFIGURATION_LOAD_REQUEUE = 30 * SECOND;

// --- Ban: rules.md, "Ban recovery" ---

/** Restarts within BAN_WINDOW at most. */
export const BAN_RESTARTS = 3;
export const BAN_WINDOW = 30 * MINUTE;
/** Shortest time between two restarts because of a ban. */
export const BAN_COOLDOWN = 5 * MINUTE;

// --- Health: rules.md, "Health of a hub" ---

/**
 * Interval of the health checks of a running hub. The checks use new requests, since an open WebSocket does
 * not show a ban.
 */
export const HEALTH_CHECK_INTERVAL = 10 * SECOND;
/** Interval at which the connections to the hubs of deleted Hubs are closed. */
export const DELETED_HUBS_CHECK = 30 * SECOND;
/** Timeout of a health check. The reconcile after a missing answer checks again with a longer timeout. */
export const HEALTH_CHECK_TIMEOUT = 5 * SECOND;

// --- Token: rules.md, "Token" ---

/** A token is replaced when a tenth of its lifetime is left, but not earlier than this before its end. */
export const TOKEN_RENEWAL = 30 * 24 * 60 * MINUTE;

// --- Webhook: rules.md, "Certificate of the webhook" ---

const DAY = 24 * 60 * MINUTE;
/** Validity of a certificate that the operator makes for its webhook. */
export const WEBHOOK_CERTIFICATE_LIFETIME = 90 * DAY;
/** The certificate is replaced when this share of its validity is over. */
export const WEBHOOK_CERTIFICATE_RENEWAL = 2 / 3;
/** The certificate is valid from this long before its creation, for API servers whose clocks are slow. */
export const WEBHOOK_CLOCK_SKEW = 60 * MINUTE;
/** Interval of the checks of the certificate, in addition to those after events of the cluster. */
export const WEBHOOK_CERTIFICATE_CHECK = 60 * MINUTE;
/**
 * Least time between two writes of the certificate and the CA: another program may overwrite them each time.
 */
export const WEBHOOK_WRITE_INTERVAL = 10 * SECOND;

// --- Community repositories: rules.md, "Community repositories" ---

/** An archive, with all redirects, is downloaded within this time. */
export const DOWNLOAD_TIMEOUT = 2 * MINUTE;
export const DOWNLOAD_REDIRECTS = 5;
/** Bytes of a downloaded archive, which is kept in memory while it is read. */
export const ARCHIVE_SIZE = 32 * 1024 * 1024;
/** Most files and folders in an archive. */
export const ARCHIVE_ENTRIES = 10_000;
/** Most bytes of all files in an archive. */
export const ARCHIVE_UNPACKED_SIZE = 256 * 1024 * 1024;
/** Largest compression ratio of a file in an archive. Text has about 10. */
export const ARCHIVE_RATIO = 200;
/** Most files that one repository installs. */
export const INSTALLED_FILES = 2_000;
export const INSTALLED_SIZE = 24 * 1024 * 1024;
/** Bytes of the installed files as they are sent through the API server, compressed. */
export const INSTALLED_PACKED_SIZE = 10 * 1024 * 1024;
/** Delay before a code host that does not answer is asked again. */
export const DOWNLOAD_RETRY = MINUTE;
/**
 * Delay after an answer that the code host does not have the archive, and after a failed installation. A
 * change of the spec ends it.
 */
export const DOWNLOAD_REJECTED_RETRY = 8 * MINUTE;
/** The pod that installs is replaced if it has not ended within this time. */
export const INSTALLER_TIMEOUT = 3 * MINUTE;
/** A removal gives up after this time. */
export const INSTALLED_REMOVAL_TIMEOUT = 90 * SECOND;
/** While a pod installs, its resource is reconciled after this time at the latest. */
export const INSTALLER_POLL = 10 * SECOND;

/** The init containers of the hub's pod, and the parts of their termination messages that the operator reads. */

/** Runs the script PREPARE_CONFIG. */
export const PREPARE_CONTAINER = 'prepare-config';

/** In its verdict: the generated configuration is not the one that runs. */
export const NOT_LOADED = 'The hub would not load this configuration';

/** In its verdict, before the hashes of the configuration that it was given, and of its secrets. */
export const CONTENT_HASH = 'content ';

/** In its verdict: the image is older than what has run on the volume. */
export const OLDER_VERSION = 'may not be able to read what a newer version has written';

/** Runs the script UNBAN_OPERATOR_IP. */
export const UNBAN_CONTAINER = 'unban-operator-ip';

/** In its verdict: a restart cannot have helped, since there was no ban to lift. */
export const NOT_BANNED = 'is not among the bans';

/** In its verdict, before the addresses whose bans stay. */
export const BANNED_ARE = 'banned are ';

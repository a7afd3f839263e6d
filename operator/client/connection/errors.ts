import { OperationalError } from '../../base/errors';

/**
 * Base class of the errors of requests to a hub. Every message may be written to a status: it contains no
 * secret (texts of the hub are redacted) and no text of a host that is not a hub.
 */
export abstract class HubError extends OperationalError {
  abstract override readonly name: string;
}

/**
 * The hub did not answer: connection refused, reset or timed out, unknown host, TLS failure, or HTTP 429,
 * 502, 503, 504. Transient: the same request can succeed later.
 */
export class HubUnreachable extends HubError {
  override readonly name = 'HubUnreachable';

  /**
   * @param isDown the hub is not running: the connection was refused, or a proxy reports that its backend is
   * down
   */
  constructor(
    message: string,
    readonly isDown = false,
  ) {
    super(message);
  }
}

/** The hub's answer is larger than the limit. A request for less data can succeed. */
export class AnswerTooLarge extends HubUnreachable {}

/**
 * The hub is stopping, is starting, or was restarted since the request. Its rejection does not prove that the
 * request is invalid.
 */
export class HubNotRunning extends HubError {
  override readonly name = 'HubNotRunning';

  constructor() {
    super('Waiting for the hub: it stops, starts or was just restarted.');
  }
}

/**
 * The server at the hub's address is not Home Assistant: it sent a redirect, an HTML page, or the manifest of
 * another program.
 */
export class NotHomeAssistant extends HubError {
  override readonly name = 'NotHomeAssistant';
}

/**
 * The hub rejected the token, because it is revoked, is expired, or belongs to a user who is not an
 * administrator (the hub answers 401 in each case). Each such answer counts toward the hub's ban, so a caller
 * must not simply retry: see `auth-backoff.ts`.
 */
export class TokenRejected extends HubError {
  override readonly name = 'TokenRejected';

  /** @param answer the hub's answer: `HTTP 401`, or `auth_invalid` over the WebSocket */
  constructor(readonly answer: string) {
    super(`the hub rejected the token (${answer})`);
  }
}

/**
 * The hub has banned the operator's address: it answers 403 to the request and to `/manifest.json` (rules.md,
 * "Ban recovery").
 */
export class HubBanned extends HubError {
  override readonly name = 'HubBanned';

  constructor() {
    super('the hub has banned the address of the operator (HTTP 403 on every path)');
  }
}

/** The hub rejected user name and password, or requires a second factor. Counts toward the hub's ban. */
export class LoginFailed extends HubError {
  override readonly name: string = 'LoginFailed';
}

/** The configuration of the hub has no login by user name and password, so no credentials work. Counts toward the hub's ban. */
export class NoPasswordLogin extends LoginFailed {
  override readonly name = 'NoPasswordLogin';

  constructor() {
    super(
      'the hub has no login by password, since auth_providers in its configuration lacks type: homeassistant',
    );
  }
}

/**
 * The user name already exists although the hub reports its onboarding step `user` as open: an earlier
 * onboarding was interrupted.
 */
export class UserExists extends HubError {
  override readonly name = 'UserExists';
}

/** Whether a request only reads or may change something. */
export type RequestType = 'read' | 'write';

/**
 * The hub understood the request and rejected it. An equal request will be rejected again: a write until its
 * content is corrected, a read until the hub serves that part of its API.
 */
export class HubRejected extends HubError {
  override readonly name: string = 'HubRejected';

  /** @param code the WebSocket's error code (`invalid_format`, …), or the HTTP status (`400`, `403`, …) */
  constructor(
    readonly code: string,
    message: string,
    readonly requestType: RequestType = 'write',
  ) {
    super(message);
  }
}

export const isRejected = (error: unknown): boolean => error instanceof HubRejected;
export const isNotFound = (error: unknown): boolean => error instanceof NotFound;

/**
 * Whether the hub has no such command, because it is of another version, or is starting and has not loaded
 * the integration yet.
 */
export const isUnknownCommand = (error: unknown): boolean =>
  error instanceof HubRejected && error.code === 'unknown_command';

/** The hub does not know the object or the path: HTTP 404, or `not_found` over the WebSocket. */
export class NotFound extends HubRejected {
  override readonly name = 'NotFound';
}

/** The hub failed to process the request: HTTP 5xx, or `unknown_error` over the WebSocket. */
export class HubFailed extends HubError {
  override readonly name: string = 'HubFailed';

  /** @param status HTTP status, for an answer over HTTP */
  constructor(
    message: string,
    readonly status?: number,
  ) {
    super(message);
  }
}

/** Adds a cause to an HTTP 500, which the hub sends without one. Any other error is returned unchanged. */
export function withCauseOf500(error: unknown, cause: string): unknown {
  const isBare = error instanceof HubFailed && error.status === 500;
  return isBare ? new HubFailed(`${error.message}: ${cause}`, error.status) : error;
}

/**
 * The hub has not read files of its pod, and gives no cause. Most often the kubelet has not updated them yet.
 */
export class FilesNotRead extends HubFailed {
  override readonly name = 'FilesNotRead';
}

/**
 * The lists of the hub are larger than the operator keeps. They are not requested again for some time
 * (rules.md, "Large resources").
 */
export class HubTooLarge extends HubError {
  override readonly name = 'HubTooLarge';

  /** @param most limit in bytes for the lists of all hubs */
  constructor(list: string, most: number) {
    const mebibytes = Math.floor(most / 2 ** 20);
    super(
      `the ${list} of the hub are not kept, since those of all hubs take more than ${mebibytes} MiB of memory and this hub has the most; they are read again after 1 to 10 minutes: remove some in the hub, or raise the memory limit of the operator`,
    );
  }
}

import { OperationalError } from '../../base/errors';

/**
 * The errors of a request to a hub that callers distinguish. Every message may be written to a status: it contains no
 * secret (texts of the hub are redacted) and no text of a host that is not a hub.
 */
export abstract class HubError extends OperationalError {
  abstract override readonly name: string;
}

/**
 * No answer: connection refused, reset or timed out, unknown host, TLS failure, or HTTP 429, 502, 503, 504. Transient:
 * the same request can succeed later.
 */
export class HubUnreachable extends HubError {
  override readonly name = 'HubUnreachable';

  /** @param isDown the connection was refused, or a proxy reports that its backend is down: the hub is not running */
  constructor(
    message: string,
    readonly isDown = false,
  ) {
    super(message);
  }
}

/** An answer has arrived that is larger than it may be. Asked for less, the hub can answer. */
export class AnswerTooLarge extends HubUnreachable {}

/** The hub stops, starts, or was restarted meanwhile: a rejection says nothing of the request. */
export class HubNotRunning extends HubError {
  override readonly name = 'HubNotRunning';

  constructor() {
    super('Waiting for the hub: it stops, starts or was just restarted.');
  }
}

/**
 * The server at the hub's address is not Home Assistant: it sent a redirect, an HTML page, another program's manifest.
 */
export class NotHomeAssistant extends HubError {
  override readonly name = 'NotHomeAssistant';
}

/**
 * The hub rejected the token: revoked, expired, or of a user who is no administrator (the hub answers 401 to both).
 * Each such answer counts toward the hub's ban, so a caller must not simply retry: see `auth-backoff.ts`.
 */
export class TokenRejected extends HubError {
  override readonly name = 'TokenRejected';

  /** @param answer of the hub: `HTTP 401`, or `auth_invalid` over the WebSocket */
  constructor(readonly answer: string) {
    super(`the hub rejected the token (${answer})`);
  }
}

/** The hub has banned the operator's address: 403, and `/manifest.json` is 403 too (rules.md, "Ban recovery"). */
export class HubBanned extends HubError {
  override readonly name = 'HubBanned';

  constructor() {
    super('the hub has banned the address of the operator (HTTP 403 on every path)');
  }
}

/** The hub rejected user name and password, or asks for a second factor. Counts toward the hub's ban. */
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
 * The user name exists already although the hub reports its user step as open: an earlier onboarding was interrupted.
 */
export class UserExists extends HubError {
  override readonly name = 'UserExists';
}

/** Whether a request only asks for something or may change it. */
export type RequestType = 'read' | 'write';

/**
 * The hub understood the request and rejected it. The same request will be rejected again: a write until its content is
 * corrected, a read until the hub serves that part of its API.
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
 * Whether the hub has no such command: it is of another version, or it starts and has not loaded the integration of the
 * command yet.
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

  /** @param status of an answer over HTTP */
  constructor(
    message: string,
    readonly status?: number,
  ) {
    super(message);
  }
}

/** The error with the cause of an HTTP 500, which the hub sends without one; any other error stays as it is. */
export function withCauseOf500(error: unknown, cause: string): unknown {
  const isBare = error instanceof HubFailed && error.status === 500;
  return isBare ? new HubFailed(`${error.message}: ${cause}`, error.status) : error;
}

/** The hub has not read files that its pod gets, and gives no cause: most often they are on their way. */
export class FilesNotRead extends HubFailed {
  override readonly name = 'FilesNotRead';
}

/** The hub shows more than the operator keeps. The same request is not sent for some time (rules.md, "Large resources"). */
export class HubTooLarge extends HubError {
  override readonly name = 'HubTooLarge';

  /** @param most bytes of the lists of all hubs */
  constructor(list: string, most: number) {
    const mebibytes = Math.floor(most / 2 ** 20);
    super(
      `the ${list} of the hub are not kept, since those of all hubs take more than ${mebibytes} MiB of memory and this hub has the most; they are read again after 1 to 10 minutes: remove some in the hub, or raise the memory limit of the operator`,
    );
  }
}

import { OperationalError } from '../errors';

/**
 * The ways in which talking to a hub can end badly, as far as a caller acts on the difference. Every message is fit
 * for a status: it holds no secret (the hub's own words have passed the scrubber) and no text of a host that is not
 * a hub.
 */
export abstract class HubError extends OperationalError {
  abstract override readonly name: string;
}

/** No answer: refused, timed out, reset, cut off, no such host, TLS failure, 429, 502, 503 or 504. Passes by itself. */
export class HubUnreachable extends HubError {
  override readonly name = 'HubUnreachable';
}

/** Something answers at the hub's address that is no hub: a redirect, a page of HTML, another program's manifest. */
export class NotHomeAssistant extends HubError {
  override readonly name = 'NotHomeAssistant';
}

/**
 * The hub does not accept the token: revoked, expired, or of a user who is no administrator (the hub answers 401 to
 * both). Each such answer feeds the hub's ban, so nobody may simply try again.
 */
export class TokenRejected extends HubError {
  override readonly name = 'TokenRejected';
}

/** The hub has banned our address: 403, and `/manifest.json` is 403 too (kinds.md 0.5). */
export class HubBanned extends HubError {
  override readonly name = 'HubBanned';
}

/** User name and password do not open the hub, or it asks for a second factor. */
export class LoginFailed extends HubError {
  override readonly name = 'LoginFailed';
}

/** Somebody of that name is there already, while the hub says that its first user is still to be made. */
export class UserExists extends HubError {
  override readonly name = 'UserExists';
}

/** The hub understood and refused. The same request will be refused again. */
export class HubRejected extends HubError {
  override readonly name: string = 'HubRejected';

  /** @param code the WebSocket's error code (`invalid_format`, …), or the HTTP status (`400`, `403`, …) */
  constructor(
    readonly code: string,
    message: string,
  ) {
    super(message);
  }
}

/** The hub does not know what was asked for: HTTP 404, or `not_found` over the WebSocket. */
export class NotFound extends HubRejected {
  override readonly name = 'NotFound';
}

/** The hub tried and failed: HTTP 5xx, or `unknown_error` over the WebSocket. */
export class HubFailed extends HubError {
  override readonly name = 'HubFailed';
}

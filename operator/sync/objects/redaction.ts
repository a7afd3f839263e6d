import { callsOf, errorOf } from '../../base/errors';
import type { HubClient } from '../../client/hub-client';
import type { Redact } from '../../client/connection/redact';
import type { EventSpec } from '../../runtime/event-spec';
import type { Outcome } from '../../runtime/outcome';
import type { Child, ChildModule } from './child';

/** Returns the function that masks the secrets of the resource or, if its kind has none, of its Hub. */
export function redactorOf<R extends Child>(module: ChildModule<R>, resource: R, client: HubClient): Redact {
  return module.redactorOf?.(resource, client) ?? client.rest.redact;
}

/**
 * Masks secrets in all texts of an outcome into which the hub may have put them, including the title of an
 * object.
 */
export function redactedOutcome<O extends Outcome>(outcome: O, redact: Redact): O {
  const { conditions, events, message, status } = outcome;
  const title = status?.['title'];
  return {
    ...outcome,
    message: redact(message),
    ...(events && { events: redactedEvents(events, redact) }),
    ...(conditions && { conditions: redactedConditions(conditions, redact) }),
    ...(typeof title === 'string' && { status: { ...status, title: redact(title) } }),
  };
}

/** Maximum number of causes that are kept of an error. A longer chain is a cycle. */
const LONGEST_CHAIN = 5;

/**
 * Prepares a bug for the log: its message and those of its causes are redacted, since they may quote a value
 * of a Secret.
 */
export function redactedBug(thrown: unknown, redact: Redact, depth = 1): Error {
  const error = errorOf(thrown);
  const { cause, name } = error;
  const message = redact(error.message);
  const stack = [message, ...callsOf(error)].join('\n');
  const masked = cause !== undefined &&
    depth < LONGEST_CHAIN && { cause: redactedBug(cause, redact, depth + 1) };
  return Object.assign(new Error(message), { name, stack, ...masked });
}

export const redactedEvents = (events: readonly EventSpec[], redact: Redact): readonly EventSpec[] =>
  events.map((event) => ({ ...event, message: redact(event.message) }));

function redactedConditions(
  conditions: NonNullable<Outcome['conditions']>,
  redact: Redact,
): NonNullable<Outcome['conditions']> {
  return Object.fromEntries(
    Object.entries(conditions).map(([type, value]) => [
      type,
      value && { ...value, message: redact(value.message) },
    ]),
  );
}

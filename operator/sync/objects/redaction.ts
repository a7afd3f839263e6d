import { callsOf, errorOf } from '../../base/errors';
import type { HubClient } from '../../client/hub-client';
import type { Redact } from '../../client/connection/redact';
import type { EventSpec } from '../../runtime/event-spec';
import type { Outcome } from '../../runtime/outcome';
import type { Child, ChildModule } from './child';

/** The secrets of the resource, or those of its Hub. */
export function redactorOf<R extends Child>(module: ChildModule<R>, resource: R, client: HubClient): Redact {
  return module.redactorOf?.(resource, client) ?? client.rest.redact;
}

/** Masks secrets in all texts of an outcome that the hub may have put them into: it may also name an object so. */
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

/** Causes of causes that are kept; a longer chain is a cycle. */
const LONGEST_CHAIN = 5;

/** A bug as it is logged: its message, and those of its causes, may quote a value of a Secret. */
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

import type { Redact } from '../../client/connection/redact';
import type { EventSpec } from '../../runtime/event-spec';
import type { Outcome } from '../../runtime/outcome';

/** Masks secrets in all texts of an outcome that the hub may have put them into: it may also name an object so. */
export function redactedOutcome<O extends Outcome>(outcome: O, redact: Redact): O {
  const { events, message, status } = outcome;
  const title = status?.['title'];
  return {
    ...outcome,
    message: redact(message),
    ...(events && { events: redactedEvents(events, redact) }),
    ...(typeof title === 'string' && { status: { ...status, title: redact(title) } }),
  };
}

export const redactedEvents = (events: readonly EventSpec[], redact: Redact): readonly EventSpec[] =>
  events.map((event) => ({ ...event, message: redact(event.message) }));

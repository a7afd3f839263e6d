import type { Redact } from '../../client/redact';
import type { Outcome } from '../../runtime/outcome';

/** Masks secrets in everything of an outcome that the hub may have put them into: an integration may name its entry so. */
export function redacted(outcome: Outcome, redact: Redact): Outcome {
  const { events, message, status } = outcome;
  const title = status?.['title'];
  return {
    ...outcome,
    message: redact(message),
    ...(events && { events: events.map((event) => ({ ...event, message: redact(event.message) })) }),
    ...(typeof title === 'string' && { status: { ...status, title: redact(title) } }),
  };
}

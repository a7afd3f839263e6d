import { HubFailed, HubRejected } from '../../client/connection/errors';
import type { Redact } from '../../client/connection/redact';
import type { EventSpec } from '../../runtime/event-spec';
import type { Outcome, Waiting } from '../../runtime/outcome';

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

/** Masks secrets in what a removal resolves with, and in the hub's words that it fails with: they become events. */
export async function redactedRemoval(
  removal: Promise<readonly EventSpec[] | Waiting>,
  redact: Redact,
): Promise<readonly EventSpec[] | Waiting> {
  try {
    const removed = await removal;
    return 'type' in removed ? redactedOutcome(removed, redact) : redactedEvents(removed, redact);
  } catch (error) {
    if (!(error instanceof HubRejected || error instanceof HubFailed)) throw error;
    throw new HubFailed(redact(error.message));
  }
}

const redactedEvents = (events: readonly EventSpec[], redact: Redact): readonly EventSpec[] =>
  events.map((event) => ({ ...event, message: redact(event.message) }));

import type { CustomResource } from '../kinds/resource';
import { conditionOf } from './conditions';
import type { EventSpec } from './event-spec';
import type { Outcome } from './outcome';

/**
 * The event of a transition (rules.md, "Status and conditions"): the resource became ready, stopped being ready, or is
 * stalled for another reason. `before` is the resource as it was read.
 */
export function transitionEvents(
  before: CustomResource,
  { type, reason, message, events = [] }: Outcome,
): EventSpec[] {
  const previous = conditionOf(before, 'Ready');
  if (type === 'Ready') {
    const reported = previous?.status === 'True' || events.some((event) => event.type === 'Normal');
    return reported ? [] : [{ type: 'Normal', reason, message }];
  }
  const sameReason = previous?.reason === reason;
  // Waiting for the reason that it was ready for is progress: an edit is being applied.
  if (type === 'Waiting' && (sameReason || previous?.status !== 'True')) return [];
  if (sameReason && previous.status === 'False') return [];
  return [{ type: 'Warning', reason, message }];
}

import type { CustomResource } from '../kinds/resource';
import { conditionOf } from './conditions';
import { hub } from '../kinds/hub';
import { hubStateReasons, progressReasons } from '../kinds/reasons';
import type { EventSpec } from './event-spec';
import type { Outcome } from './outcome';

/**
 * The event of a transition (rules.md, "Status and conditions"): the resource became ready, stopped being
 * ready, or is stalled for another reason. `before` is the resource as it was read. If the reason is about
 * the Hub, the event is recorded on the Hub only, not on its children, which may be hundreds.
 */
export function transitionEvents(
  before: CustomResource,
  { type, reason, message, events = [] }: Outcome,
): EventSpec[] {
  const previous = conditionOf(before, 'Ready');
  const isChild = before.kind !== hub.kind;
  if (isChild && isHubState(reason)) return [];
  if (type === 'Ready') {
    const reported =
      previous?.status === 'True' ||
      (isChild && isHubState(previous?.reason)) ||
      events.some((event) => event.type === 'Normal');
    return reported ? [] : [{ type: 'Normal', reason, message }];
  }
  const sameReason = previous?.reason === reason;
  // Waiting with an unchanged reason is progress: a change of the spec is being applied.
  const isTransition = previous?.status === 'True' || (isProgress(previous?.reason) && !isProgress(reason));
  if (type === 'Waiting' && (sameReason || !isTransition)) return [];
  if (sameReason && previous.status === 'False') return [];
  // The sync module itself reports this transition.
  if (events.some((event) => event.reason === reason)) return [];
  return [{ type: isProgress(reason) ? 'Normal' : 'Warning', reason, message }];
}

const isHubState = (reason: string | undefined): boolean =>
  (hubStateReasons as readonly unknown[]).includes(reason);

const isProgress = (reason: string | undefined): boolean =>
  (progressReasons as readonly unknown[]).includes(reason);

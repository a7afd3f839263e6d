import type { ReadyReason } from '../kinds/reasons';
import type { Condition } from '../kinds/condition';
import type { CustomResource } from '../kinds/resource';
import { sentence } from '../base/sentence';
import { truncate } from '../base/truncate';
import { type Outcome, waiting } from './outcome';

/** Longest message in characters. `metav1.Condition` allows 32768. */
const LONGEST_MESSAGE = 1_024;

/**
 * The conditions after an outcome, by the rules of kstatus: `Ready` is always present, `Reconciling` and `Stalled` only
 * while true (rules.md, "Status and conditions"). `at` is an RFC 3339 time.
 */
export function conditionsAfter(
  previous: readonly Condition[],
  outcome: Outcome,
  generation: number,
  at: string,
): Condition[] {
  const { reason, message } = outcome;
  return changed(
    previous,
    {
      Ready: { status: outcome.type === 'Ready' ? 'True' : 'False', reason, message },
      Reconciling: outcome.type === 'Waiting' ? { status: 'True', reason, message } : null,
      Stalled: outcome.type === 'Stalled' ? { status: 'True', reason, message } : null,
      Suspended: null,
      ...outcome.conditions,
    },
    generation,
    at,
  );
}

/** The conditions after an unexpected error; the reconcile is retried with backoff. */
export function conditionsAfterError(
  previous: readonly Condition[],
  failure: { readonly reason: ReadyReason; readonly message: string },
  generation: number,
  at: string,
): Condition[] {
  return conditionsAfter(previous, waiting(failure.reason, failure.message, 0), generation, at);
}

/** The conditions of a suspended resource: `Ready` keeps its last value. */
export function conditionsWhileSuspended(
  previous: readonly Condition[],
  generation: number,
  at: string,
): Condition[] {
  const suspended = {
    reason: 'Suspended',
    message: 'Reconciliation is suspended: set spec.suspend to false to resume it.',
  } as const;
  const ready = previous.some(({ type }) => type === 'Ready');
  return changed(
    previous,
    {
      ...(ready ? {} : { Ready: { status: 'Unknown' as const, ...suspended } }),
      Suspended: { status: 'True', ...suspended },
      Reconciling: null,
    },
    generation,
    at,
  );
}

/**
 * Types of the conditions that all kinds share. Conditions of other types, such as `ReloadReady`, describe
 * the object in the hub.
 */
const COMMON_TYPES: ReadonlySet<string> = new Set(['Ready', 'Reconciling', 'Stalled', 'Suspended']);

/** The conditions of a resource that takes over the object of a deleted one. */
export function conditionsAfterHandOver(
  previous: readonly Condition[],
  { status }: CustomResource,
  observedGeneration: number,
): Condition[] {
  const ofObject = (status?.conditions ?? []).filter(({ type }) => !COMMON_TYPES.has(type));
  const kept = previous.filter(({ type }) => ofObject.every((each) => each.type !== type));
  return [...kept, ...ofObject.map((each) => ({ ...each, observedGeneration }))];
}

function changed(
  previous: readonly Condition[],
  values: NonNullable<Outcome['conditions']>,
  generation: number,
  at: string,
): Condition[] {
  const kept = previous.filter(({ type }) => !(type in values));
  const set = Object.entries(values).flatMap(([type, value]) => {
    if (value === null) return [];
    const before = previous.find((condition) => condition.type === type);
    const lastTransitionTime = before?.status === value.status ? before.lastTransitionTime : at;
    const message = truncate(sentence(value.message), LONGEST_MESSAGE);
    return [
      {
        type,
        status: value.status,
        reason: value.reason,
        message,
        observedGeneration: generation,
        lastTransitionTime,
      },
    ];
  });
  // Ready first, then by name: `kubectl describe` prints them in this order.
  return [...kept, ...set].sort((a, b) => rank(a) - rank(b) || (a.type < b.type ? -1 : 1));
}

const rank = ({ type }: Condition): number => (type === 'Ready' ? 0 : 1);

export function conditionOf(resource: CustomResource, type: string): Condition | undefined {
  return resource.status?.conditions?.find((condition) => condition.type === type);
}

export const isReady = (resource: CustomResource): boolean =>
  conditionOf(resource, 'Ready')?.status === 'True';

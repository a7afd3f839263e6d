import { isDeepStrictEqual } from 'node:util';
import { operatorAnnotations } from '../../../kinds/annotations';
import type { Hub } from '../../../kinds/index';
import type { EventSpec } from '../../../runtime/event-spec';
import type { StatefulSet } from '../../hub-workload/owned-objects';

const CAUSES = {
  configHash: 'its configuration',
  secretsHash: 'its secrets',
  communityHash: 'its community integrations',
} as const satisfies Partial<Record<keyof typeof operatorAnnotations, string>>;

/** Names why the pod of a hub was deleted, as its HubConfiguration has asked for. */
export const deletionEvent = (reason: string): EventSpec => event(`The hub restarts: ${reason}.`);

/** Names the cause of a rollout. Undefined: the pod template stays, and so does the pod. */
export function restartEvent(
  { metadata, status }: Pick<Hub, 'metadata' | 'status'>,
  before: StatefulSet,
  after: StatefulSet,
): EventSpec | undefined {
  if (isDeepStrictEqual(before.spec.template, after.spec.template)) return undefined;
  const valueIn = (set: StatefulSet, name: keyof typeof CAUSES) =>
    set.spec.template.metadata?.annotations?.[operatorAnnotations[name]];
  const names = Object.keys(CAUSES) as (keyof typeof CAUSES)[];
  const changed = [
    ...(status?.observedGeneration === metadata.generation ? [] : ['its spec']),
    ...names.filter((name) => valueIn(before, name) !== valueIn(after, name)).map((name) => CAUSES[name]),
  ];
  const cause =
    changed.length > 0
      ? `since ${changed.join(' and ')} changed`
      : 'since this version of the operator has another pod for it';
  return event(`The hub restarts, ${cause}.`);
}

const event = (message: string): EventSpec => ({ type: 'Normal', reason: 'HubRestarting', message });

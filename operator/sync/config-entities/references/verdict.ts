import { fewNames } from '../../../base/few-names';
import { REFERENCES_GRACE } from '../../../base/limits';
import { truncate } from '../../../base/truncate';
import { domainOf } from '../../../client/connection/entity-id';
import type { ReferenceType } from '../../../client/registries/known-names';
import { conditionOf } from '../../../runtime/conditions';
import { condition, type Ready } from '../../../runtime/outcome';
import type { Child } from '../../objects/child';
import type { Reference } from './extract';
import type { HubIds } from './missing';

/** The parts that the check adds to an outcome. If empty, the former condition stays. */
export type Verdict = Pick<Ready, 'conditions' | 'status' | 'events' | 'after'>;

/** The missing references of one resource, with the data for suggestions. */
interface Found {
  readonly missing: readonly Reference[];
  readonly ids: ReadonlyMap<ReferenceType, HubIds>;
  /** Domains of missing actions whose integrations are not set up. */
  readonly notSetUp: ReadonlySet<string>;
}

/** State of one resource between two checks. */
export interface Remembered {
  /** True if the last check of this process found all references. */
  wasFound?: boolean;
  /** Monotonic time since which a reference is missing that was found before. */
  missingSince?: number | undefined;
}

/** A missing reference as status contains it. */
interface Missing extends Reference {
  readonly suggestion?: string;
}

const MOST_IN_STATUS = 50;
const MOST_IN_MESSAGE = 5;
/** Maximum number of characters of an id in status. No id of a hub is longer. */
const LONGEST_ID = 255;

export const referenceText = ({ type, id }: Reference): string => `${type} ${id}`;

export const unsettled: Verdict = {
  conditions: {
    ReferencesFound: condition(
      'Unknown',
      'HubNotReady',
      'The hub was started a short time ago, or is setting up its integrations: references are checked afterwards.',
    ),
  },
};

const allFound: Verdict = {
  conditions: {
    ReferencesFound: condition(
      'True',
      'AllFound',
      'The hub has every entity, action, device, area, floor and label that it names.',
    ),
  },
  status: { missingReferences: null },
};

/**
 * The condition for these findings. If a reference was found a short time ago, the former condition stays for
 * a grace period, since it may be missing only while an integration is reloaded. After a change of the spec
 * there is no grace period.
 */
export function judged(resource: Child, found: Found, remembered: Remembered, now: number): Verdict {
  if (found.missing.length === 0) {
    remembered.wasFound = true;
    remembered.missingSince = undefined;
    return allFound;
  }
  const before = conditionOf(resource, 'ReferencesFound');
  const isSameSpec = before?.observedGeneration === resource.metadata.generation;
  if (before?.status === 'True' && isSameSpec) {
    remembered.missingSince ??= now;
    const left = remembered.missingSince + REFERENCES_GRACE - now;
    if (left > 0) return { after: left };
  }
  const isChange = before?.status === 'True' || remembered.wasFound === true;
  remembered.wasFound = false;
  const missing = withSuggestions(resource, found);
  const message = messageOf(missing, found);
  return {
    conditions: { ReferencesFound: condition('False', 'ReferencesMissing', message) },
    status: { missingReferences: missing },
    events: isChange ? [{ type: 'Normal', reason: 'ReferencesMissing', message }] : [],
  };
}

/**
 * The missing references, sorted, with suggestions. Suggestions in status are kept if they still exist, since
 * a search through all names takes long.
 */
function withSuggestions({ status }: Child, { missing, ids }: Found): readonly Missing[] {
  const before = (status?.['missingReferences'] ?? []) as readonly Missing[];
  const known = new Map(before.map((each) => [referenceText(each), each.suggestion]));
  return [...missing]
    .sort((a, b) => (referenceText(a) < referenceText(b) ? -1 : 1))
    .slice(0, MOST_IN_STATUS)
    .map((reference) => {
      const { type, id } = reference;
      const inHub = ids.get(type)!;
      const former = known.get(referenceText(reference));
      const suggestion = former !== undefined && inHub.has(former) ? former : inHub.suggest(id);
      return { type, id: truncate(id, LONGEST_ID), ...(suggestion !== undefined && { suggestion }) };
    });
}

function messageOf(shown: readonly Missing[], { missing, notSetUp }: Found): string {
  const names = missing.map((_, index) => (index < MOST_IN_MESSAGE ? wordsOf(shown[index]!, notSetUp) : ''));
  return `The hub does not have ${fewNames(names, MOST_IN_MESSAGE)}. Correct the name, or add what is missing to the hub.`;
}

/** Words for a missing reference, such as `light.sofaa (did you mean light.sofa?)`. */
export function wordsOf({ type, id, suggestion }: Missing, notSetUp: ReadonlySet<string>): string {
  const isNotSetUp = type === 'action' && notSetUp.has(domainOf(id));
  const remarks = [
    ...(isNotSetUp ? [`the integration ${domainOf(id)} is not set up`] : []),
    ...(suggestion === undefined ? [] : [`did you mean ${suggestion}?`]),
  ];
  const name = type === 'entity' ? id : `the ${type} ${id}`;
  return remarks.length === 0 ? name : `${name} (${remarks.join('; ')})`;
}

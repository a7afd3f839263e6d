import { hub as hubKind } from '../../operator/kinds';
import { noticesIn } from '../../operator/kinds/hub/running-text';
import type { CustomResource } from '../../operator/kinds/resource';
import { conditionOf } from '../../operator/runtime/conditions';
import { fewNames } from '../../operator/base/few-names';
import { oneLine } from '../output';
import { hubNameOf } from '../status/causes';
import { stateOf } from '../status/state';
import { about, type Finding } from './finding';

/** Milliseconds after which a deletion counts as stuck. The operator itself waits less for a hub. */
const STUCK_DELETION = 5 * 60_000;
/** Milliseconds within which the operator should have reconciled a new resource. */
const FIRST_RECONCILE = 2 * 60_000;

/** Most resources that a finding names. */
const MOST_NAMES = 3;

/** Finds resources whose Hub does not exist, whose deletion is stuck, or that no operator reconciles. */
export function checkResources(
  resources: ReadonlyMap<string, readonly CustomResource[]>,
  now: number,
  only?: string,
): Finding[] {
  const isMeant = (each: CustomResource): boolean =>
    only === undefined || only === (each.kind === hubKind.kind ? each.metadata.name : hubNameOf(each));
  const listed = resources.get(hubKind.kind);
  const hubs = listed && new Set(listed.map(({ metadata }) => metadata.name));
  const all = [...resources.values()].flat();
  const ofEach = all.map((resource) => ({ resource, own: findingsOf(resource, hubs, now) }));
  const others = ofEach
    .filter(({ own, resource }) => own.length === 0 && isMeant(resource))
    .map(({ resource }) => resource);
  const findings = [
    ...ofEach.flatMap(({ own }) => own),
    ...all.filter(isMeant).flatMap(noticesOf),
    ...missingReferences(all.filter(isMeant)),
    ...unready(others.filter((each) => stateOf(each).reason !== 'NotLoaded')), // NotLoaded has its own check
  ];
  return findings.length > 0
    ? findings
    : [about('resources', 'namespace').ok('Each resource has its Hub and is reconciled.')];
}

/** Reports resources that are not Ready; it is a fault if one of them has failed. */
function unready(resources: readonly CustomResource[]): Finding[] {
  const states = resources
    .map((resource) => ({ resource, ...stateOf(resource) }))
    .filter(({ state }) => state !== 'Ready' && state !== 'Suspended');
  if (states.length === 0) return [];
  const { fault, notice } = about('resources', 'namespace');
  const names = states.map(
    ({ resource: { kind, metadata }, reason, state }) => `${kind} ${metadata.name} (${reason ?? state})`,
  );
  const shown = [...names.slice(0, MOST_NAMES), ...(names.length > MOST_NAMES ? ['…'] : [])].join(', ');
  const verdict = states.some(({ state }) => state === 'Failed') ? fault : notice;
  const count = states.length === 1 ? '1 resource is' : `${states.length} resources are`;
  return [verdict(`${count} not Ready: ${shown}.`, 'kubectl hub status says why, and what to do.')];
}

/** Reports parts of a Hub that are not set up although the Hub is Ready. */
function noticesOf(resource: CustomResource): Finding[] {
  const { state, message } = stateOf(resource);
  if (resource.kind !== hubKind.kind || state !== 'Ready') return [];
  const notices = noticesIn(message ?? '');
  const { name } = resource.metadata;
  return notices === undefined
    ? []
    : [about('parts', `Hub ${name}`).notice(oneLine(notices), 'Correct what the message names.')];
}

/** Resources that refer to what their hub does not have. The hub runs them, so they may be Ready. */
function missingReferences(resources: readonly CustomResource[]): Finding[] {
  const found = resources.flatMap((resource) => {
    const condition = conditionOf(resource, 'ReferencesFound');
    return condition?.status === 'False' ? [{ resource, message: condition.message }] : [];
  });
  const shown = found
    .slice(0, MOST_NAMES)
    .map(({ resource: { kind, metadata }, message }) =>
      about('references', `${kind} ${metadata.name}`).notice(oneLine(message), REFERENCES_REMEDY),
    );
  const rest = found.slice(MOST_NAMES).map(({ resource: { kind, metadata } }) => `${kind} ${metadata.name}`);
  if (rest.length === 0) return shown;
  const names = fewNames(rest, MOST_NAMES);
  const message = `Others refer to what their hub does not have as well: ${names}.`;
  return [...shown, about('references', 'namespace').notice(message, REFERENCES_REMEDY)];
}

const REFERENCES_REMEDY =
  'kubectl get -o wide shows the column REFERENCES, status.missingReferences all names.';

/** @param hubs names of the Hubs; undefined if the user may not list them */
function findingsOf(resource: CustomResource, hubs: ReadonlySet<string> | undefined, now: number): Finding[] {
  const { kind, metadata } = resource;
  const subject = `${kind} ${metadata.name}`;
  const age = now - Date.parse(metadata.creationTimestamp);
  const hubName = hubNameOf(resource);
  if (metadata.deletionTimestamp && now - Date.parse(metadata.deletionTimestamp) > STUCK_DELETION)
    return [
      about('deletion', subject).fault(
        `It has been waiting for its deletion since ${metadata.deletionTimestamp}, with the finalizers ${(metadata.finalizers ?? []).join(', ')}.`,
        'The operator removes its own finalizer: check that it runs. Another one belongs to another controller.',
      ),
    ];
  if (hubs && !hubs.has(hubName))
    return [
      about('orphans', subject).fault(
        `It belongs to the Hub ${hubName}, which does not exist.`,
        'Create the Hub, or delete the resource.',
      ),
    ];
  if (!conditionOf(resource, 'Ready') && age > FIRST_RECONCILE)
    return [
      about('reconciliation', subject).fault(
        'The operator has not reconciled it since it was created.',
        'Check that the operator runs, and that its setting WATCH_NAMESPACES includes this namespace.',
      ),
    ];
  return [];
}

import { callService } from '../../client/services';
import { stateOf } from '../../client/states';
import type { EntityPayload } from '../../client/config-entities';
import { automation as definition, type HubAutomation, type HubAutomationSpec } from '../../kinds';
import { effectiveId } from '../../kinds/ids';
import { defaulted } from '../../kinds/schema';
import { defined, runPayload } from './payload';
import type { EntityType, StateCorrection, EntityWork } from './entity-type';
import { isNew } from './observe';
import { readLiveConfig } from './live-config';

type AutomationWork = EntityWork<HubAutomation, HubAutomationSpec>;

export const automations: EntityType<HubAutomation, HubAutomationSpec> = {
  type: 'automation',
  definition,
  idField: 'automationId',
  reason: 'AutomationGenerated',
  reloads: true,
  id: effectiveId,
  spec: (resource) => defaulted(definition.spec, resource.spec),
  payload: automationPayload,
  readLive: (work, entity) => readLiveConfig('automation', work, entity),
  status: ({ enabled }) => ({ enabled }),
  shouldEnable: ({ spec, resource }) => spec.enabled && resource.status?.enabled === false,
  ensureState: setSwitch,
};

/** The automation as the hub's config API takes it: its own key names, nothing that it does not know. */
export function automationPayload(spec: HubAutomationSpec): EntityPayload {
  const { triggers, conditions, actions, trace } = spec;
  const none = spec.useBlueprint ? undefined : [];
  return defined({
    ...runPayload(spec),
    triggers: triggers ?? none,
    conditions: conditions ?? none,
    actions: actions ?? none,
    // Off at every start of the hub, whatever `initialState` says (kinds.md 5).
    initial_state: spec.enabled ? spec.initialState : false,
    trace: trace?.storedTraces === undefined ? undefined : { stored_traces: trace.storedTraces },
  });
}

/**
 * Only `enabled: false` is enforced; a change to true turns it on once, and while it is true the household decides. A
 * new one is turned on as well: the hub gives back the state of one that had its name before.
 */
async function setSwitch(
  work: AutomationWork,
  entity: { readonly entity_id: string },
): Promise<StateCorrection> {
  const { client, resource, spec } = work;
  const target = { entity_id: entity.entity_id };
  const carriedOut = resource.status?.enabled;
  if (spec.enabled) {
    const comesBackOff = isNew(work) && spec.initialState !== false;
    const turnOn = carriedOut === false || (comesBackOff && (await isState(work, target.entity_id, 'off')));
    if (turnOn) await callService(client.rest, 'automation', 'turn_on', target);
    return {};
  }
  if (!(await isState(work, target.entity_id, 'on'))) return {};
  const drifted = carriedOut === false;
  if (drifted && spec.driftPolicy === 'Warn') return { mayNotCorrect: 'Somebody switched it on in the hub.' };
  await callService(client.rest, 'automation', 'turn_off', { ...target, stop_actions: true });
  return drifted ? { corrected: 'Somebody switched it on in the hub: it is off again.' } : {};
}

async function isState({ client }: AutomationWork, entityId: string, wanted: string): Promise<boolean> {
  return (await stateOf(client.rest, entityId)) === wanted;
}

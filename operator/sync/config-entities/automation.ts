import { callService } from '../../client/services';
import { stateOf } from '../../client/config-entities/states';
import { automation as definition, type HubAutomation, type HubAutomationSpec } from '../../kinds';
import { effectiveId } from '../../kinds/ids';
import { defaulted } from '../../kinds/schema';
import { actions, boolean, conditions, triggers } from './normal-form';
import { defined, invalidItem, RUN_KEYS, runNormalizer, runPayload } from './payload';
import type { EntityType, StateContext, StateCorrection, EntityWork } from './entity-type';
import { isNew } from './ownership';
import { readLiveConfig } from './live-config';
import { countSwitchOff, switchOffPause } from './switch-offs';
import type { EntityPayload } from '../../client/connection/config-entity';

type AutomationWork = EntityWork<HubAutomation, HubAutomationSpec>;

/** Keys that the hub renames when it stores a definition. A user's file may still have the former names. */
const renamed = { trigger: 'triggers', condition: 'conditions', action: 'actions' };

export const automations: EntityType<HubAutomation, HubAutomationSpec> = {
  type: 'automation',
  definition,
  idField: 'automationId',
  reason: 'AutomationGenerated',
  reloads: true,
  id: effectiveId,
  spec: (resource) => defaulted(definition.spec, resource.spec),
  validate: ({ conditions, actions }) =>
    invalidItem('conditions', conditions) ?? invalidItem('actions', actions),
  payload: automationPayload,
  nameOf: ({ alias }) => alias,
  keys: [...RUN_KEYS, 'triggers', 'conditions', 'actions', 'trigger_variables', 'initial_state'],
  renamed,
  normal: runNormalizer({
    renamed,
    values: { triggers, conditions, actions, initial_state: boolean },
    defaults: { triggers: [], conditions: [], actions: [], trigger_variables: {} },
  }),
  readLive: (work, entity) => readLiveConfig('automation', work, entity),
  shouldEnable: ({ spec, resource }) => spec.enabled && resource.status?.enabled === false,
  ensureState: setSwitch,
};

/** The automation in the form of the hub's config API, which rejects unknown keys. */
export function automationPayload(spec: HubAutomationSpec): EntityPayload {
  const { triggers, conditions, actions, triggerVariables } = spec;
  const none = spec.useBlueprint ? undefined : [];
  return defined({
    ...runPayload(spec),
    triggers: triggers ?? none,
    conditions: conditions ?? none,
    actions: actions ?? none,
    trigger_variables: triggerVariables,
    // A disabled automation is off at every start of the hub (rules.md, "Disabled automations").
    initial_state: spec.enabled ? spec.initialState : false,
  });
}

/**
 * Switches the automation according to rules.md, "Disabled automations". A new automation is switched on too:
 * if a deleted one had the same id, the hub restores its state.
 */
async function setSwitch(
  work: AutomationWork,
  entity: { readonly entity_id: string },
  { inUse, now }: StateContext,
): Promise<StateCorrection> {
  const { client, resource, spec, cached } = work;
  const target = { entity_id: entity.entity_id };
  const applied = resource.status?.enabled;
  const status = { enabled: spec.enabled };
  if (spec.enabled) {
    if (!inUse) return {}; // a later load may switch the automation off again
    const mayBeRestoredOff = isNew(work) && spec.initialState !== false;
    const turnOn = applied === false || (mayBeRestoredOff && (await isState(work, target.entity_id, 'off')));
    if (turnOn) await callService(client.rest, 'automation', 'turn_on', target);
    return { status };
  }
  if (!(await isState(work, target.entity_id, 'on'))) return { status };
  const drifted = applied === false;
  if (drifted && spec.driftPolicy === 'Warn')
    return {
      left: {
        message: 'The automation was switched on in the hub. driftPolicy is Warn: it is not corrected.',
      },
    };
  const after = drifted ? switchOffPause(cached, now) : 0;
  if (after > 0) {
    const message =
      'The automation is switched on in the hub again and again. The operator switches it off after pauses that double. ' +
      'Find what switches it on (an automation, a script, a dashboard), or set enabled to true.';
    return { left: { message, after } };
  }
  await callService(client.rest, 'automation', 'turn_off', { ...target, stop_actions: true });
  if (drifted) countSwitchOff(cached, now);
  return {
    status,
    ...(drifted && { corrected: 'The automation was switched on in the hub. It is switched off again.' }),
  };
}

async function isState({ client }: AutomationWork, entityId: string, state: string): Promise<boolean> {
  return (await stateOf(client.rest, entityId)) === state;
}

import { type HubScript, type HubScriptSpec, script as definition } from '../../kinds';
import { scriptId } from '../../kinds/ids';
import { defaulted } from '../../kinds/schema';
import { actions, boolean, mapOf, normalizer } from './normal-form';
import { defined, invalidItem, modeOf, RUN_KEYS, runNormalizer, runPayload } from './payload';
import type { EntityType } from './entity-type';
import { readLiveConfig } from './live-config';
import type { EntityPayload } from '../../client/connection/config-entity';

const normalScript = runNormalizer({
  values: {
    sequence: actions,
    fields: mapOf(
      normalizer({
        values: { required: boolean, advanced: boolean },
        defaults: { required: false, advanced: false },
      }),
    ),
  },
  defaults: { sequence: [], fields: {} },
});

export const scripts: EntityType<HubScript, HubScriptSpec> = {
  type: 'script',
  definition,
  idField: 'scriptId',
  reason: 'ScriptGenerated',
  reloads: false,
  id: scriptId,
  spec: (resource) => defaulted(definition.spec, resource.spec),
  validate: ({ sequence }) => invalidItem('sequence', sequence),
  payload: scriptPayload,
  nameOf: (_spec, id) => id,
  keys: [...RUN_KEYS, 'icon', 'fields', 'sequence'],
  normal: (whole, id) => ({ alias: id, ...normalScript(whole) }),
  status: (spec) => ({ mode: modeOf(spec) ?? null }),
  readLive: (work, entity) => readLiveConfig('script', work, entity),
};

/** The script in the form of the hub's config API, which rejects unknown keys. */
export function scriptPayload(spec: HubScriptSpec): EntityPayload {
  const { icon, fields, sequence = spec.useBlueprint ? undefined : [] } = spec;
  return defined({ ...runPayload(spec), icon, fields, sequence });
}

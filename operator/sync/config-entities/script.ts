import type { EntityBody } from '../../client/config-entities';
import { type HubScript, type HubScriptSpec, script as definition } from '../../kinds';
import { scriptId } from '../../kinds/ids';
import { defaulted } from '../../kinds/schema';
import { defined, runBody } from './payload';
import type { Family } from './entity-type';
import { shownInMemory } from './live-config';

export const scripts: Family<HubScript, HubScriptSpec> = {
  type: 'script',
  definition,
  idField: 'scriptId',
  reason: 'ScriptGenerated',
  reloads: false,
  id: scriptId,
  spec: (resource) => defaulted(definition.spec, resource.spec),
  body: scriptBody,
  shown: (work, entity) => shownInMemory('script', work, entity),
};

/** The script as the hub's config API takes it: its own key names, nothing that it does not know. */
export function scriptBody(spec: HubScriptSpec): EntityBody {
  const { icon, fields, sequence = spec.useBlueprint ? undefined : [] } = spec;
  return defined({ ...runBody(spec), icon, fields, sequence });
}

import { TooManyValues } from '../../base/bounded-json';
import { templateText, type YamlZone, yamlZones as zones } from '../connection/answers';
import { HubFailed } from '../connection/errors';
import { parseJson } from '../connection/answer-body';
import type { RestClient } from '../connection/rest';
import { checked } from '../connection/shape';

const TEMPLATE = `[
{%- for zone in states.zone | rejectattr('attributes.editable') -%}
{{ '' if loop.first else ',' }}{{ { 'entityId': zone.entity_id, 'name': zone.name } | to_json }}
{%- endfor -%}
]`;

/**
 * The zones of the configuration file. No command lists them, but their states have the attribute that they
 * are not editable.
 */
export async function yamlZones(rest: RestClient): Promise<readonly YamlZone[]> {
  const text = await rest.post('/api/template', { template: TEMPLATE }, { answer: templateText });
  return checked('POST /api/template', parsed(text), zones);
}

function parsed(text: string): unknown {
  try {
    return parseJson(Buffer.from(text));
  } catch (error) {
    throw error instanceof TooManyValues ? new HubFailed(`the list of its zones: ${error.message}`) : error;
  }
}

import { getEntityState } from '../../../client/config-entities/states';
import type { HubClient } from '../../../client/hub-client';
import { DEPENDENCY_REQUEUE } from '../../../base/limits';
import { helper, type HubHelper } from '../../../kinds';
import { helperDomains, type HelperType } from '../../../kinds/helper/domains';
import { type Outcome, waiting } from '../../../runtime/outcome';
import type { EntryField, EntryResource, EntryType } from '../entry-type';
import { byId } from '../identity';
import { duration, moment, notEmpty, slots } from './forms';
import { textValueProblem } from './text-value';
import { validateHelper } from './validate';

const days = ['monday', 'tuesday', 'wednesday', 'thursday', 'friday', 'saturday', 'sunday'] as const;

/** The fields of each type of helper, with the hub's defaults for a new helper. */
const fieldsOf: Readonly<Record<HelperType, Readonly<Record<string, EntryField>>>> = {
  boolean: { initial: { name: 'initial' } },
  button: {},
  number: {
    min: { name: 'min' },
    max: { name: 'max' },
    step: { name: 'step', default: 1 },
    mode: { name: 'mode', default: 'slider' },
    unit: { name: 'unit_of_measurement', form: notEmpty },
    deviceClass: { name: 'device_class' },
  },
  text: {
    min: { name: 'min', default: 0 },
    max: { name: 'max', default: 100 },
    pattern: { name: 'pattern', form: notEmpty },
    mode: { name: 'mode', default: 'text' },
    unit: { name: 'unit_of_measurement', form: notEmpty },
    initial: { name: 'initial' },
  },
  select: { options: { name: 'options' }, initial: { name: 'initial' } },
  datetime: {
    date: { name: 'has_date', default: false },
    time: { name: 'has_time', default: false },
    initial: { name: 'initial', form: moment },
  },
  counter: {
    initial: { name: 'initial', default: 0 },
    step: { name: 'step', default: 1 },
    minimum: { name: 'minimum', default: null },
    maximum: { name: 'maximum', default: null },
    restore: { name: 'restore', default: true },
  },
  timer: {
    duration: { name: 'duration', form: duration, default: '0:00:00' },
    restore: { name: 'restore', default: false },
  },
  schedule: Object.fromEntries(days.map((day) => [day, { name: day, form: slots, default: [] }])),
};

/**
 * Fields that are ignored: the hub keeps the initial value of a number until its next start, and never uses
 * it.
 */
const ignored: Partial<Record<HelperType, readonly string[]>> = { number: ['initial'] };

/** The description of the collection for each type of helper. */
export const helperTypes: readonly EntryType[] = (Object.keys(helperDomains) as HelperType[]).map((type) => {
  const domain = helperDomains[type];
  const own = Object.entries(fieldsOf[type]).map(([name, field]) => [`${type}.${name}`, field] as const);
  return {
    type: domain,
    definition: helper,
    idField: 'id',
    reason: 'HelperRegistered',
    component: domain,
    identity: byId,
    isWhole: true,
    typeFields: { type },
    fields: { icon: { name: 'icon', form: notEmpty }, ...Object.fromEntries(own) },
    ...(ignored[type] && { ignored: ignored[type] }),
    validate: validateHelper,
    ...(type === 'text' && { valueProblem: textProblem }),
    conflict: (client, resource) => inYaml(domain, client, resource),
  };
});

function textProblem(resource: EntryResource, value: string): string | undefined {
  return textValueProblem((resource as unknown as HubHelper).spec.text ?? {}, value);
}

/**
 * The outcome if a helper in the hub's YAML has the id. The hub would give another id to the resource's
 * helper.
 */
async function inYaml(
  domain: (typeof helperDomains)[HelperType],
  { entityRegistry, rest }: HubClient,
  resource: EntryResource,
): Promise<Outcome | undefined> {
  const id = byId.of(resource);
  const entity = await entityRegistry.find(domain, id);
  const state = entity && (await getEntityState(rest, entity.entity_id));
  const { editable, restored } = state?.attributes ?? {};
  if (!entity || editable !== false || restored === true) return undefined;
  const message =
    `The helper ${entity.entity_id} with the id ${id} is part of the hub’s YAML, so it cannot be edited in the hub: ` +
    `remove it from the section ${domain} of the configuration, or create this resource with another spec.id.`;
  return waiting('NameConflict', message, DEPENDENCY_REQUEUE);
}

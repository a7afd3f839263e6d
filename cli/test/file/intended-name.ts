import { intendedField } from '../../../operator/offline/misnamed-fields';

/** Fields by the words that people write instead, which come from the hub's YAML and from other tools. */
const OTHER_WORDS: Readonly<Record<string, readonly string[]>> = {
  entity_id: ['entity', 'target'],
  service: ['action'],
  event: ['event_type', 'fire'],
  service_data: ['data'],
  data_template: ['data'],
  wait: ['advance'],
  delay: ['advance'],
  sleep: ['advance'],
  time: ['at', 'start'],
  assert: ['expect'],
  then: ['expect'],
  trigger: ['fire'],
  not: ['none'],
  never: ['none'],
  count: ['times'],
  timeout: ['within'],
  alias: ['name'],
  cases: ['tests'],
  time_zone: ['timezone'],
};

/** The known name that an unknown one was probably meant to be; undefined if there is no guess. */
export function intendedName(unknown: string, known: readonly string[]): string | undefined {
  const listed = Object.hasOwn(OTHER_WORDS, unknown) ? OTHER_WORDS[unknown] : undefined;
  const other = listed?.find((name) => known.includes(name));
  return other ?? intendedField('', unknown, known);
}

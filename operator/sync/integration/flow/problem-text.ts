import type { FlowKind } from '../../../client/flow-step';
import type { HubClient } from '../../../client/hub-client';
import type { FlowProblem } from './navigator';

/** The flow of an integration in which a problem arose. */
export interface FlowName {
  readonly kind: FlowKind;
  readonly domain: string;
  /** Type of the subentry. */
  readonly type?: string;
}

const NAMES: Readonly<Record<FlowKind, string>> = {
  config: 'configuration',
  options: 'options',
  subentries: 'subentry',
};

/** The sentence of a condition: step, field, the hub's key and the text that its UI shows for it. */
export async function problemText(
  { translations }: Pick<HubClient, 'translations'>,
  flow: FlowName,
  problem: FlowProblem,
): Promise<string> {
  const { kind, step, field, key, placeholders, textOf } = problem;
  if (kind === 'unavailable') return ended(problem.text ?? '');
  const where = [step && `in the step ${step}`, field && `at the field ${field}`].filter(Boolean).join(' ');
  const what = `The ${NAMES[flow.kind]} of ${flow.domain} failed`;
  const place = where ? `${what} ${where}` : what;
  if (key === undefined || (kind !== 'error' && kind !== 'abort'))
    return ended(`${place}: ${problem.text ?? 'the hub gave no reason'}`);
  const text = await translations.ofFlow(textOf ?? flow.domain, flow, { kind, key }, placeholders);
  const shown = text === undefined ? key : `${key} (${text.trim()})`;
  return ended(kind === 'abort' ? `${place}: the hub ended it with ${shown}` : `${place}: ${shown}`);
}

/** With a full stop, unless the hub's text ends the sentence. */
const ended = (text: string): string => (/[.!?]$/.test(text) ? text : `${text}.`);

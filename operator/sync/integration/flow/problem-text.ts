import type {
  ConfigEntry,
  ConfigSubentry,
  FlowInProgress,
  FlowKind,
} from '../../../client/connection/flow-step';
import type { HubClient } from '../../../client/hub-client';
import { userAnnotations } from '../../../kinds/annotations';
import { failedFlowText, failedFlowWithCause } from '../../../kinds/case-texts';
import type { HubIntegrationSpec, PendingFlow } from '../../../kinds/integration';
import { allAnswers, type Answers } from '../answers';
import type { FlowProblem } from './navigator';

/** The flow of an integration in which a problem occurred. */
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

/**
 * The message of a condition: step, field, the hub's key, and the text that the hub's UI shows for the key.
 */
export async function problemText(
  { translations }: Pick<HubClient, 'translations'>,
  flow: FlowName,
  problem: FlowProblem,
): Promise<string> {
  const { kind, step, field, key, placeholders, textOf } = problem;
  if (kind === 'unavailable') return ended(problem.text ?? '');
  const failed = { flow: NAMES[flow.kind], domain: flow.domain, step, field };
  if (key === undefined || (kind !== 'error' && kind !== 'abort'))
    return ended(`${failedFlowText(failed)}: ${problem.text ?? 'the hub gave no reason'}`);
  const text = await translations.ofFlow(textOf ?? flow.domain, flow, { kind, key }, placeholders);
  return ended(failedFlowWithCause(failed, { key, words: text?.trim(), isEnd: kind === 'abort' }));
}

/** Adds a full stop, unless the text already ends a sentence. */
const ended = (text: string): string => (/[.!?]$/.test(text) ? text : `${text}.`);

// Sentences that follow the hub's message about a failure, and say how to solve it.

const REQUEST = `request a reconcile with the annotation ${userAnnotations.reconcileAt}`;

/**
 * Error keys about a button on the device that has to be pressed. The hub waits for the button for half a
 * minute at most.
 */
const BUTTON =
  /^(register_failed|no_key|linking|link_button|link_failed|press_button|pairing_failed|not_paired)$/;

export function buttonHint({ key = '' }: FlowProblem): readonly string[] {
  return BUTTON.test(key) ? [`If the device has a button to press, press it, and then ${REQUEST}.`] : [];
}

/**
 * The message when no entry is created because the hub has entries that an interrupted flow may have created,
 * with the remedy.
 *
 * @param titles titles of these entries
 * @param replaces the resource has an entry, which a new one was to replace
 */
export function unclearEntries(
  { adopt, domain, title }: HubIntegrationSpec,
  titles: readonly string[],
  replaces: boolean,
): string {
  const named = titles.map((each) => `“${each}”`).join(', ');
  const adopted =
    adopt === 'Never'
      ? 'set spec.adopt to Allowed and spec.title to its title, or remove it in the hub'
      : `set spec.title to its title${title === undefined ? '' : ', or give it that title in the hub'}, and it is adopted`;
  const way = replaces ? 'remove it in the hub' : adopted;
  return `A config flow of ${domain} was interrupted, and since then the hub has: ${named}. The flow or a person made that, so it is not touched, and no other one is made. If it is of the flow, ${way}. If it is a person’s, ${REQUEST}: then another one is made.`;
}

/**
 * The message when no subentry is created because the entry has subentries that an interrupted flow may have
 * created, with the remedy.
 *
 * @param replaces a new subentry was to replace the present one
 */
export function unclearSubentries(
  { domain, title: ofEntry }: ConfigEntry,
  { type, title }: NonNullable<PendingFlow['subentry']>,
  present: readonly ConfigSubentry[],
  replaces: boolean,
): string {
  const named = present.map((each) => `“${each.title}”`).join(', ');
  const way = replaces
    ? `remove it or the former ${type} “${title}” in the hub`
    : `give it the title “${title}” in the hub, and it is adopted, or remove it`;
  return `A flow that makes the ${type} “${title}” of the ${domain} entry “${ofEntry}” was interrupted, and since then the entry has: ${named}. The flow or a person made that, so it is not touched, and no other one is made. If it is of the flow, ${way}. If it is a person’s, ${REQUEST}: then another one is made.`;
}

/** @param discovered flows that the hub started for discovered devices */
export function discoveredHint(domain: string, discovered: readonly FlowInProgress[]): string {
  const names = discovered.map(({ context }) => context.title_placeholders?.['name'] ?? context.source);
  return `The hub has discovered ${domain} devices: ${names.join(', ')}. Add or ignore the one of this resource in the hub’s UI: one that is added there is adopted by its title (spec.title).`;
}

/** @param titles titles of the entries of the domain */
export function existsHint({ adopt }: HubIntegrationSpec, titles: readonly string[]): readonly string[] {
  if (adopt === 'Never') return ['The entry exists, and spec.adopt is Never.'];
  if (titles.length === 0) return [];
  return [`To adopt an existing entry, set spec.title to its title: ${titles.join(', ')}.`];
}

export function rejectedHint(answers: Answers): readonly string[] {
  const ends = allAnswers(answers).filter(
    ({ isSecret, value }) => isSecret && value.type === 'text' && /[\r\n]$/.test(value.text),
  );
  const lines = ends.map(
    ({ id }) => `The Secret’s value of ${id} ends with a line break, which is sent, too: remove it.`,
  );
  return [...lines, `These answers are not sent again: change them, or ${REQUEST}.`];
}

import type { FlowInProgress } from '../../../client/flow-step';
import { userAnnotations } from '../../../kinds/annotations';
import type { HubIntegrationSpec } from '../../../kinds/integration';
import { allAnswers, type Answers } from '../answers';
import type { FlowProblem } from './navigator';

// Sentences that follow the hub's words about a failure, and say what to do.

const REQUEST = `request a reconcile with the annotation ${userAnnotations.reconcileAt}`;

/** Keys of errors of a button at the device that has to be pressed. The hub waits for it for half a minute at most. */
const BUTTON =
  /^(register_failed|no_key|linking|link_button|link_failed|press_button|pairing_failed|not_paired)$/;

export function buttonHint({ key = '' }: FlowProblem): readonly string[] {
  return BUTTON.test(key) ? [`If the device has a button to press, press it, and then ${REQUEST}.`] : [];
}

/** @param discovered flows that the hub started */
export function discoveredHint(domain: string, discovered: readonly FlowInProgress[]): string {
  const names = discovered.map(({ context }) => context.title_placeholders?.['name'] ?? context.source);
  return `The hub has discovered ${domain} devices: ${names.join(', ')}. Add or ignore the one of this resource in the hub’s UI: one that is added there is adopted by its title (spec.title).`;
}

/** @param titles of the entries of the domain */
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

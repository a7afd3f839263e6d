/**
 * Sentences of conditions of which programs tell the cases of one reason from each other. Each is written and recognized here, so
 * that no reader depends on words that are changed elsewhere.
 */

/** The condition of an entity that a person has disabled: the hub has the object and does not run it. */
export const disabledEntityText = (type: string, entityId: string, by: string | null): string =>
  `The ${type} ${entityId} is disabled in the hub (by: ${by}), and is left so: it does not run. Enable the entity in the hub to use it.`;

export const isDisabledEntityText = (message: string): boolean =>
  /(^| )The [a-z]+ [a-z]+\.\S+ is disabled in the hub \(by: [a-z_]+\), and is left so/.test(message);

/** The flow of an integration that failed, and where. */
interface FailedFlow {
  /** `configuration`, `options` or `subentry` */
  readonly flow: string;
  readonly domain: string;
  readonly step?: string | undefined;
  readonly field?: string | undefined;
}

/** The beginning of the sentence about a flow that failed; the cause follows after a colon. */
export function failedFlowText({ flow, domain, step, field }: FailedFlow): string {
  const where = [step && ` in the step ${step}`, field && ` at the field ${field}`].filter(Boolean).join('');
  return `The ${flow} of ${domain} failed${where}`;
}

/** The key of the hub for an error, with the text that its UI shows for it. */
interface FlowCause {
  readonly key: string;
  readonly words?: string | undefined;
  /** The error has ended the flow. */
  readonly isEnd: boolean;
}

export function failedFlowWithCause(failed: FailedFlow, { key, words, isEnd }: FlowCause): string {
  const shown = words === undefined ? key : `${key} (${words})`;
  return `${failedFlowText(failed)}: ${isEnd ? 'the hub ended it with ' : ''}${shown}`;
}

/** The key in a message of {@link failedFlowWithCause}; undefined: it has none. */
export const flowKeyIn = (message: string): string | undefined =>
  /^The [a-z]+ of [a-z0-9_]+ failed(?: in the step [^:]*?)?(?: at the field [^:]*?)?: (?:the hub ended it with )?([a-z0-9_]+)(?: \(|\.(?: |$)|$)/.exec(
    message,
  )?.[1];

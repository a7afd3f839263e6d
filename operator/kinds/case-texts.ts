/**
 * Sentences of conditions by which programs tell several cases of one reason apart. Each sentence is written
 * and recognized in this file, so that no reader depends on words that are changed elsewhere.
 */

/**
 * The condition message for an entity that a user has disabled: the hub has the object but does not run it.
 */
export const disabledEntityText = (type: string, entityId: string, by: string | null): string =>
  `The ${type} ${entityId} is disabled in the hub (by: ${by}), and is left so: it does not run. Enable the entity in the hub to use it.`;

export const isDisabledEntityText = (message: string): boolean =>
  /(^| )The [a-z]+ [a-z]+\.\S+ is disabled in the hub \(by: [a-z_]+\), and is left so/.test(message);

/** A failed flow of an integration, with the place of the failure. */
interface FailedFlow {
  /** `configuration`, `options` or `subentry` */
  readonly flow: string;
  readonly domain: string;
  readonly step?: string | undefined;
  readonly field?: string | undefined;
}

/** The beginning of the message about a failed flow. The cause follows after a colon. */
export function failedFlowText({ flow, domain, step, field }: FailedFlow): string {
  const where = [step && ` in the step ${step}`, field && ` at the field ${field}`].filter(Boolean).join('');
  return `The ${flow} of ${domain} failed${where}`;
}

/** The hub's key for an error of a flow, and the text that its UI shows for the key. */
interface FlowCause {
  readonly key: string;
  readonly words?: string | undefined;
  /** True if the error has ended the flow. */
  readonly isEnd: boolean;
}

export function failedFlowWithCause(failed: FailedFlow, { key, words, isEnd }: FlowCause): string {
  const shown = words === undefined ? key : `${key} (${words})`;
  return `${failedFlowText(failed)}: ${isEnd ? 'the hub ended it with ' : ''}${shown}`;
}

/** The error key in a message of {@link failedFlowWithCause}; undefined if the message has none. */
export const flowKeyIn = (message: string): string | undefined =>
  /^The [a-z]+ of [a-z0-9_]+ failed(?: in the step [^:]*?)?(?: at the field [^:]*?)?: (?:the hub ended it with )?([a-z0-9_]+)(?: \(|\.(?: |$)|$)/.exec(
    message,
  )?.[1];

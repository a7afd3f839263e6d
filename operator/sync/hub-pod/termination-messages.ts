import { isObject } from '../../base/is-object';
import type { Pod } from './owned-objects';

/**
 * The init containers of the hub's pod, and the contents of their termination messages: lines of JSON
 * (operator/sync/hub-pod/scripts).
 */

/** Name of the init container that runs the program PREPARE_CONFIG. */
export const PREPARE_CONTAINER = 'prepare-config';

/** Name of the init container that runs the program UNBAN_OPERATOR_IP. */
export const UNBAN_CONTAINER = 'unban-operator-ip';

/**
 * A problem that the hub's configuration check reports. `error`: the hub would not start. `warning`: the hub
 * would start without a part of its configuration.
 */
interface Problem {
  readonly kind: 'error' | 'warning';
  readonly text: string;
}

const PREPARE_RESULTS = [
  /** The hub starts with the mounted content, which was checked at this start. */
  'loaded',
  /** An equal content was checked before with this image. The problems come from that check. */
  'unchanged',
  /** The content was rejected. The hub starts with the last good content. */
  'replaced',
  /** The content was rejected, and there is no other: the pod does not start. */
  'refused',
  /** Nothing is mounted: the hub starts with the content of its last start. */
  'kept',
  /** Nothing is mounted, and the volume has no configuration: the pod does not start. */
  'missing',
  /** The image is older than the version that has run on the volume: the pod does not start. */
  'downgrade',
] as const;

/**
 * Folders that the configuration includes without providing a file in them, with their state on the volume.
 */
export interface FoldersReport {
  readonly missing: readonly string[];
  /** Folders without a file that the hub reads. */
  readonly empty: readonly string[];
  readonly present: readonly string[];
  /** False if there are more folders than the message has room for. */
  readonly isComplete: boolean;
}

export interface PrepareReport {
  readonly result: (typeof PREPARE_RESULTS)[number];
  /** Version of the hub in the image. */
  readonly version: string;
  /** The hashes of the mounted content. Undefined if no content with a hash is mounted. */
  readonly content?: { readonly configuration: string; readonly secrets?: string } | undefined;
  /**
   * Included files that no user has written and that are empty. Files that the hub's own API writes are not
   * listed.
   */
  readonly created: readonly string[];
  /** Files that are no longer generated, but stay because a user has changed them. */
  readonly kept: readonly string[];
  /** Undefined if the init container is of an earlier version, which did not check folders. */
  readonly folders?: FoldersReport | undefined;
  /** Errors in the log of the hub's last start, if it ended in recovery mode. */
  readonly lastStart: readonly string[];
  /** The version that has run on the volume, if the result is `downgrade`. */
  readonly ran?: string | undefined;
  readonly problems: readonly Problem[];
}

interface UnbanReport {
  /**
   * Result of the init container. `removed`: the operator's address was banned. `absent`: it was not.
   * `unknown`: the operator does not know its address.
   */
  readonly result: 'removed' | 'absent' | 'unknown';
  /** The operator's address. */
  readonly address?: string | undefined;
  /** The addresses that stay banned. */
  readonly banned: readonly string[];
}

/**
 * The report of the init container `prepare-config`.
 *
 * @returns undefined when the container has not ended, or is of an earlier version, whose messages were
 * sentences
 */
export function prepareReport(pod: Pod | undefined): PrepareReport | undefined {
  return parsePrepareReport(messageOf(pod, PREPARE_CONTAINER) ?? '');
}

/** The report of the init container `unban-operator-ip`, as {@link prepareReport}. */
export function unbanReport(pod: Pod | undefined): UnbanReport | undefined {
  const fields = parse(messageOf(pod, UNBAN_CONTAINER) ?? '');
  const result = (['removed', 'absent', 'unknown'] as const).find((each) => each === fields?.['result']);
  if (!fields || !result) return undefined;
  return { result, address: text(fields['address']), banned: texts(fields['banned']) };
}

export function parsePrepareReport(message: string): PrepareReport | undefined {
  const fields = parse(message);
  const result = PREPARE_RESULTS.find((each) => each === fields?.['result']);
  if (!fields || !result) return undefined;
  return {
    result,
    version: text(fields['version']) ?? '',
    content: contentIn(fields['content']),
    created: texts(fields['created']),
    kept: texts(fields['kept']),
    folders: foldersIn(fields['folders']),
    lastStart: texts(fields['lastStart']),
    ran: text(fields['ran']),
    problems: list(fields['problems']).filter(isObject).map(problemOf),
  };
}

/**
 * The termination message of the present run of the container. While the container waits for its next run,
 * the message of the last run.
 */
function messageOf(pod: Pod | undefined, container: string): string | undefined {
  const { state, lastState } =
    pod?.status?.initContainerStatuses?.find(({ name }) => name === container) ?? {};
  return (state?.terminated ?? lastState?.terminated)?.message;
}

function parse(message: string): Readonly<Record<string, unknown>> | undefined {
  return parseObject(message) ?? parseObject(withoutProblems(message));
}

/**
 * Cuts the problems, the last key, off a truncated message. In a pod with more than three containers, a
 * kubelet keeps less than 4096 bytes of each message.
 */
function withoutProblems(message: string): string {
  const at = message.indexOf(', "problems": ');
  return at < 0 ? '' : `${message.slice(0, at)}}`;
}

/**
 * Parses a JSON object.
 *
 * @returns undefined when the text is not a JSON object
 */
export function parseObject(json: string): Readonly<Record<string, unknown>> | undefined {
  try {
    const value: unknown = JSON.parse(json);
    return isObject(value) ? value : undefined;
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}

function contentIn(value: unknown): PrepareReport['content'] {
  if (!isObject(value)) return undefined;
  const [configuration, secrets] = [text(value['configuration']), text(value['secrets'])];
  return configuration === undefined
    ? undefined
    : { configuration, ...(secrets !== undefined && { secrets }) };
}

function foldersIn(value: unknown): FoldersReport | undefined {
  if (!isObject(value)) return undefined;
  const [missing, empty, present] = ['missing', 'empty', 'present'].map((key) => texts(value[key]));
  return { missing: missing!, empty: empty!, present: present!, isComplete: value['unnamed'] === 0 };
}

const problemOf = ({ kind, text: words }: Readonly<Record<string, unknown>>): Problem => ({
  kind: kind === 'error' ? 'error' : 'warning',
  text: text(words) ?? '',
});

const text = (value: unknown): string | undefined => (typeof value === 'string' ? value : undefined);
const list = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);
const texts = (value: unknown): readonly string[] => list(value).filter((each) => typeof each === 'string');

import { objectNames } from '../../kinds/object-names';
import { builtin } from '../../runtime/types';
import { hubRedactor } from '../hub-secrets';
import type { Pod } from '../hub/pod';
import { CONTENT_HASH, NOT_LOADED, PREPARE_CONTAINER } from '../hub/init-containers';
import type { Services } from '../services';
import type { MarkerVariables } from './generate/content-marker';

/** The problem of a configuration that `prepare-config` rejected at the start of the present pod. */
export interface StartVerdict {
  /** Of the rejected configuration and its secrets. */
  readonly marker: MarkerVariables;
  /** In the words of the hub's own check, without secrets. */
  readonly message: string;
}

/** Undefined: the pod started with the mounted files, or has not started yet. */
export async function startVerdict(
  services: Pick<Services, 'cache' | 'secrets'>,
  namespace: string,
  hub: string,
): Promise<StartVerdict | undefined> {
  const message = verdictOf(services, namespace, hub);
  if (!message?.startsWith(NOT_LOADED)) return undefined;
  const { text, marker } = read(message);
  const redact = await hubRedactor(services, { metadata: { namespace, name: hub } });
  return { marker: marker ?? { configuration: '' }, message: redact(text.trim()) };
}

/** The content that the present pod started with. Undefined: another one, or the pod has not got that far. */
export function startedContent(
  services: Pick<Services, 'cache'>,
  namespace: string,
  hub: string,
): MarkerVariables | undefined {
  const message = verdictOf(services, namespace, hub);
  return message === undefined || message.startsWith(NOT_LOADED) ? undefined : read(message).marker;
}

function verdictOf({ cache }: Pick<Services, 'cache'>, namespace: string, hub: string): string | undefined {
  const pod = cache.get<Pod>(builtin.Pod.kind, namespace, objectNames(hub).pod);
  const container = pod?.status?.initContainerStatuses?.find(({ name }) => name === PREPARE_CONTAINER);
  return (container?.state?.terminated ?? container?.lastState?.terminated)?.message;
}

function read(message: string): { readonly text: string; readonly marker: MarkerVariables | undefined } {
  const at = message.lastIndexOf(`\n${CONTENT_HASH}`);
  if (at < 0) return { text: message, marker: undefined };
  const [configuration = '', secrets] = message
    .slice(at + 1 + CONTENT_HASH.length)
    .trim()
    .split(' ');
  return {
    text: message.slice(0, at),
    marker: { configuration, ...(secrets !== undefined && { secrets }) },
  };
}

import { setTimeout as sleep } from 'node:timers/promises';
import { CommandError } from './command-error';
import type { Kubectl } from './kubectl';

/** Milliseconds. */
const TIMEOUT = 120_000;
const POLL = 500;

interface Definition {
  readonly metadata: { readonly name: string };
  readonly status?: { readonly conditions?: readonly { readonly type: string; readonly status: string }[] };
}

/**
 * Resolves when the API server serves all these kinds. Not `kubectl wait`, which fails on one without conditions. A request
 * that fails is repeated: an API server that has just been given kinds may be busy.
 */
export async function untilEstablished(
  kubectl: Pick<Kubectl, 'list'>,
  names: readonly string[],
): Promise<void> {
  const deadline = Date.now() + TIMEOUT;
  for (;;) {
    const definitions = await kubectl
      .list<Definition>(['customresourcedefinitions', ...names])
      .catch((error: unknown) => {
        if (!(error instanceof CommandError) || isRefusal(error) || Date.now() > deadline) throw error;
        return [];
      });
    const established = definitions.filter(({ status }) =>
      status?.conditions?.some(({ type, status }) => type === 'Established' && status === 'True'),
    );
    const waiting = names.filter((name) => !established.some(({ metadata }) => metadata.name === name));
    if (waiting.length === 0) return;
    if (Date.now() > deadline)
      throw new CommandError(
        `The API server does not serve ${waiting.join(', ')} after ${TIMEOUT / 1_000} s.`,
        'Look at its conditions: kubectl describe crd.',
      );
    await sleep(POLL);
  }
}

/** The user lacks a permission or a valid login, or there is no kubectl: no repetition helps. */
const isRefusal = ({ message }: CommandError): boolean => /Forbidden|Unauthorized|Cannot start/.test(message);

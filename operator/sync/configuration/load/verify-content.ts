import { HubFailed, HubRejected } from '../../../client/connection/errors';
import type { HubClient } from '../../../client/hub-client';
import { Stopping } from '../../../base/errors';
import { CONTENT_SEEN_LIMIT, VOLUME_REFRESH_INTERVAL } from '../../../base/limits';
import type { Hub } from '../../../kinds';
import { operatorAnnotations } from '../../../kinds/annotations';
import { objectNames } from '../../../kinds/object-names';
import { isNotFound } from '../../../runtime/api-errors';
import { pathOf } from '../../../runtime/objects';
import { builtin } from '../../../runtime/types';
import type { Services } from '../../services';
import { checkInHub, problemOf } from './check';
import type { CheckSubject } from './left-out';
import { isSameMarker, type MarkerVariables, readMarker } from '../generate/content-marker';

/** Milliseconds between two rounds. */
const POLL_INTERVAL = 300;
const LEAST_ROUNDS = 5;

/** A kubelet that was asked to has refreshed the volumes by then, in milliseconds. */
export const REFRESH_DURATION = 15_000;

export type Verification =
  /** The hub reads these files, and its check accepts them. */
  | { readonly type: 'seen'; readonly warnings: string }
  /** `isWarning`: the hub would start, and leave out the item that the problem names. */
  | { readonly type: 'rejected'; readonly problem: string; readonly isWarning: boolean }
  /** The hub still reads other files. */
  | { readonly type: 'unseen' };

interface VerifyOptions extends CheckSubject {
  readonly hub: Hub;
  readonly client: HubClient;
  readonly marker: MarkerVariables;
  /** Warnings of the check that are no problem of this content; undefined: none is. */
  readonly knownWarnings: string | undefined;
  /** Whether the resource or the secrets have changed since. */
  readonly hasChanged: () => Promise<boolean>;
  /** Milliseconds after which a problem is final. Until then, it may be one of the former files, which the hub still reads. */
  readonly rejectAfter: number;
}

/**
 * Repeats until the hub has read the written content: refreshes the volume, has the hub check it, reloads the scripts and
 * reads the marker. Only scripts are loaded, and only from files that passed the check.
 *
 * @throws Stopping the hub reads these files with other secrets, so that it will never show this content
 */
export async function verifyContent(
  services: Pick<Services, 'cluster' | 'clock' | 'log'>,
  options: VerifyOptions,
  signal: AbortSignal,
): Promise<Verification> {
  const { hub, client, marker, knownWarnings, hasChanged, rejectAfter } = options;
  const { clock } = services;
  const { namespace, name } = hub.metadata;
  const check = async () => {
    const result = await checkInHub(options, knownWarnings ?? '');
    return knownWarnings === undefined ? { ...result, newWarnings: '' } : result;
  };
  const began = clock.monotonic();
  let refreshedAt = -Infinity;
  // A check of a large file on a small machine takes long: some rounds there are in any case.
  for (let rounds = 0; rounds < LEAST_ROUNDS || clock.monotonic() - began < CONTENT_SEEN_LIMIT; rounds++) {
    signal.throwIfAborted();
    const roundBegan = clock.monotonic();
    if (clock.monotonic() - refreshedAt >= VOLUME_REFRESH_INTERVAL) {
      refreshedAt = clock.monotonic();
      await refreshVolumes(services, namespace, name);
    }
    const first = await check();
    const problem = problemOf(first);
    const isFinal = clock.monotonic() - began >= rejectAfter;
    if (problem && isFinal) return { type: 'rejected', problem, isWarning: !first.errors };
    const shown = problem || !(await reloadScripts(services, client)) ? undefined : await readMarker(client);
    if (shown && isSameMarker(shown, marker)) {
      // The check before may have read the files from before the refresh.
      const result = await check();
      const late = problemOf(result);
      if (late) return { type: 'rejected', problem: late, isWarning: !result.errors };
      return { type: 'seen', warnings: result.warnings };
    }
    if (shown?.configuration === marker.configuration && (await hasChanged()))
      throw new Stopping('the secrets changed while the configuration was being loaded');
    await clock.sleep(Math.max(POLL_INTERVAL, clock.monotonic() - roundBegan), signal);
  }
  return { type: 'unseen' };
}

/** False: the files became invalid after the check. The next check says why. */
async function reloadScripts({ log }: Pick<Services, 'log'>, client: HubClient): Promise<boolean> {
  try {
    await client.entities.reload('script');
    return true;
  } catch (error) {
    if (!(error instanceof HubRejected || error instanceof HubFailed)) throw error;
    log.debug({ error }, 'the hub could not reload its scripts');
    return false;
  }
}

/**
 * Has the kubelet refresh the mounted volumes of the hub's pod within about a second, by a new value of an annotation;
 * by itself it takes up to a minute and more. One that arrives before the kubelet knows of the changed ConfigMap has no
 * effect, so it is repeated.
 */
async function refreshVolumes(
  { cluster, clock }: Pick<Services, 'cluster' | 'clock'>,
  namespace: string,
  hub: string,
): Promise<void> {
  try {
    await cluster.request({
      method: 'PATCH',
      path: pathOf(builtin.Pod, namespace, objectNames(hub).pod),
      contentType: 'application/merge-patch+json',
      body: { metadata: { annotations: { [operatorAnnotations.refresh]: String(clock.now()) } } },
    });
  } catch (error) {
    if (!isNotFound(error)) throw error; // the pod is being replaced, and the next one reads the new files
  }
}

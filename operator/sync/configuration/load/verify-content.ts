import { rereadScripts } from '../../../client/config-entities/script-variables';
import type { HubClient } from '../../../client/hub-client';
import { Stopping } from '../../../base/errors';
import type { Hub } from '../../../kinds';
import type { Services } from '../../services';
import { checkInHub, type CheckSubject, type Problem } from './check';
import { isSameContent, type ContentHashes, readMarker } from '../../hub-pod/content-hashes';
import { whileRefreshing } from '../../hub-pod/refresh';

/** A kubelet that was asked to has refreshed the volumes by then, in milliseconds. */
export const REFRESH_DURATION = 15_000;

type Verification =
  /** The hub reads these files, and its check accepts them. */
  | { readonly type: 'seen'; readonly warnings: string }
  | ({ readonly type: 'rejected' } & Problem)
  /** The hub still reads other files. */
  | { readonly type: 'unseen' };

interface VerifyOptions extends CheckSubject {
  readonly hub: Hub;
  readonly client: HubClient;
  readonly marker: ContentHashes;
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
  const round = async (elapsed: () => number): Promise<Verification | undefined> => {
    const { problem } = await checkInHub(options, knownWarnings);
    if (problem && elapsed() >= rejectAfter) return { type: 'rejected', ...problem };
    const failure = problem ? undefined : await rereadScripts(client);
    // The files became invalid after the check. The next check says why.
    if (failure) services.log.debug({ error: failure }, 'the hub could not reload its scripts');
    const shown = (problem ?? failure) ? undefined : await readMarker(client);
    if (shown && isSameContent(shown, marker)) {
      // The check before may have read the files from before the refresh.
      const { problem: late, warnings } = await checkInHub(options, knownWarnings);
      return late ? { type: 'rejected', ...late } : { type: 'seen', warnings };
    }
    if (shown?.configuration === marker.configuration && (await hasChanged()))
      throw new Stopping('the secrets changed while the configuration was being loaded');
    return undefined;
  };
  return (await whileRefreshing(services, hub.metadata, round, signal)) ?? { type: 'unseen' };
}

import { rereadScripts } from '../../../client/config-entities/script-variables';
import type { HubClient } from '../../../client/hub-client';
import { Stopping } from '../../../base/errors';
import type { Hub } from '../../../kinds';
import type { Services } from '../../services';
import { checkInHub, type CheckSubject, type Problem } from './check';
import { isSameContent, type ContentHashes, readMarker } from '../../hub-pod/content-hashes';
import { whileRefreshing } from '../../hub-pod/refresh';

/** Milliseconds after which a kubelet has refreshed the volumes, if it was requested to. */
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
  /** Warnings of the check that this content did not cause. If undefined, no warning counts as a problem. */
  readonly knownWarnings: string | undefined;
  /** Reports whether the resource or the secrets have changed since the load began. */
  readonly hasChanged: () => Promise<boolean>;
  /**
   * Milliseconds after which a problem is final. Until then it may be a problem of the former files, which
   * the hub may still read.
   */
  readonly rejectAfter: number;
}

/**
 * Verifies that the hub reads the written content: repeatedly refreshes the volume, lets the hub check its
 * files, reloads the scripts and reads the marker. Only scripts are reloaded, and only from files that passed
 * the check.
 *
 * @throws Stopping the hub reads these files with other secrets, so it will never show this content
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
      // The first check may have read the files from before the refresh.
      const { problem: late, warnings } = await checkInHub(options, knownWarnings);
      return late ? { type: 'rejected', ...late } : { type: 'seen', warnings };
    }
    if (shown?.configuration === marker.configuration && (await hasChanged()))
      throw new Stopping('the secrets changed while the configuration was being loaded');
    return undefined;
  };
  return (await whileRefreshing(services, hub.metadata, round, signal)) ?? { type: 'unseen' };
}

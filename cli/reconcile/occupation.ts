import { isUnknownCommand } from '../../operator/client/connection/errors';
import type { HubClient } from '../../operator/client/hub-client';
import { isBackupRunning } from '../../operator/client/setup/backup';
import { getCoreState } from '../../operator/client/setup/core';

/** An operation of a hub that a restart would interrupt. */
export type Occupation = 'migration' | 'backup';

/** @throws HubError */
export async function readOccupation({
  rest,
  connection,
}: Pick<HubClient, 'rest' | 'connection'>): Promise<Occupation | undefined> {
  if ((await getCoreState(rest)).isMigrating) return 'migration';
  try {
    return (await isBackupRunning(connection)) ? 'backup' : undefined;
  } catch (error) {
    if (isUnknownCommand(error)) return undefined; // the hub has not loaded the integration `backup`
    throw error;
  }
}

import type { CoreConfig } from '../../../../../operator/client/connection/api-types';
import { hubModeProblem } from '../../../../../operator/sync/hub/health/hub-health';
import { aHub, services } from '../../fixtures';
import { hubClient } from '../../../stand-in-hub/hub-client';

/** Returns the outcome for a hub in recovery mode whose check of its configuration has this result. */
function problem(check: object) {
  const client = hubClient({ rest: { post: () => Promise.resolve(check) } });
  const content = new Map([['secrets.yaml', 'broker: tulip-bulb\n']]);
  const given = services({ secrets: { get: () => Promise.resolve(content) } });
  return hubModeProblem(given, aHub(), { recovery_mode: true } as CoreConfig, client);
}

describe('hubModeProblem', () => {
  test('says why a hub is in recovery mode in the words of its check, without its secrets', async () => {
    const outcome = await problem({
      result: 'invalid',
      errors: "Invalid config for 'mqtt': got 'tulip-bulb'",
    });
    expect(outcome).toMatchObject({
      type: 'Waiting',
      reason: 'RecoveryMode',
      message: "The hub runs in recovery mode: Invalid config for 'mqtt': got '***'",
      status: { phase: 'Failed' },
    });
  });

  test('asks for a restart when the configuration is valid', async () => {
    const outcome = await problem({ result: 'valid', errors: null });
    expect(outcome?.message).toMatch(/valid now\. Restart the hub/);
  });
});

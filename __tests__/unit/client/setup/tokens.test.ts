import type { HubConnection } from '../../../../operator/client/connection/connection';
import { revokeOldTokens } from '../../../../operator/client/setup/tokens';

test('no token is revoked when one has no id, since it could be any of them', async () => {
  const connection = {
    command: () => Promise.reject(new Error('not to be called')),
  } as unknown as HubConnection;
  expect(await revokeOldTokens(connection, () => true, 'no JWT')).toBe(0);
});

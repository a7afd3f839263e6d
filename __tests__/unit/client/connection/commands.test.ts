import type { HubConnection } from '../../../../operator/client/connection/connection';
import type { BackupConfig } from '../../../../operator/client/connection/backup-types';

/**
 * This function is never called: the compiler checks it. An expected error that does not occur is an error
 * itself.
 */
async function compiles(connection: HubConnection): Promise<BackupConfig> {
  await connection.command('get_config');
  await connection.command('backup/config/update', { retention: { copies: 3, days: null } });
  await connection.subscribeEvents('component_loaded', ({ component }) => component.length);
  // @ts-expect-error no such command
  await connection.command('config/nothing');
  // @ts-expect-error a field is missing
  await connection.command('config/auth_provider/homeassistant/admin_change_username', { user_id: 'a' });
  // @ts-expect-error all fields are missing
  await connection.command('config/auth/delete');
  // @ts-expect-error the command has no such field
  await connection.command('get_config', { verbose: true });
  // @ts-expect-error a field of another type
  await connection.command('auth/long_lived_access_token', { client_name: 'a', lifespan: '3' });
  // @ts-expect-error the event has no such data
  await connection.subscribeEvents('component_loaded', ({ domain }) => void domain);
  return (await connection.command('backup/config/info')).config;
}

describe('Commands', () => {
  test('types the fields and the result of each command', () => {
    expect(compiles).toBeInstanceOf(Function);
  });
});

import { currentUser, listTokens } from '../../../operator/client/tokens';
import { getConfig } from '../../../operator/client/core';
import { freshNamespace, until } from '../../cluster';
import { configuration, Home, hub } from '../../cluster/home';
import { startTestOperator } from '../../cluster/operator';

test('an operator that is killed in every state of the bootstrap goes on, with one owner and one token', async () => {
  const home = new Home(await freshNamespace('resume'));
  const operator = await startTestOperator(home.namespace);
  await home.apply(hub('h', { bootstrap: { location: { currency: 'SEK' } } }), configuration('h'));
  const seen = new Set<string>();
  await until('the bootstrap is through', async () => {
    const { bootstrap } = ((await home.get('hub', 'h')).status ?? {}) as { bootstrap?: { state: string } };
    if (!bootstrap || seen.has(bootstrap.state)) return false;
    seen.add(bootstrap.state);
    await operator.kill();
    await operator.start();
    return bootstrap.state === 'Done';
  });
  await home.ready('hub', 'h');
  // How many it stops in is a matter of speed; the first and the last are always among them.
  expect([...seen].length).toBeGreaterThanOrEqual(4);
  const client = await home.client('h');
  expect(await currentUser(client.connection)).toMatchObject({ name: 'admin', is_owner: true });
  expect(await getConfig(client.rest)).toMatchObject({ currency: 'SEK' });
  const users = await client.connection.command('config/auth/list');
  expect(users.filter((user) => !user.system_generated)).toHaveLength(1);
  const tokens = (await listTokens(client.connection)).filter(
    ({ type }) => type === 'long_lived_access_token',
  );
  expect(tokens).toHaveLength(1);
  console.info(`killed in ${[...seen].join(', ')}`);
});

import type { HubClient } from '../../../../operator/client/hub-client';
import { activators } from '../../../../operator/sync/community/activation';

/** A hub with these dashboard resources, by their ids. */
function hubWith(resources: Record<string, string>) {
  const all = new Map(Object.entries(resources));
  const command = (
    type: string,
    { url, resource_id: id = 'new' }: { url?: string; resource_id?: string } = {},
  ) => {
    if (type === 'lovelace/resources/delete') all.delete(id);
    else if (url !== undefined) all.set(id, url);
    return Promise.resolve([...all].map(([each, of]) => ({ id: each, type: 'module', url: of })));
  };
  return { client: { connection: { command } } as unknown as HubClient, all };
}

const PERSON = '/local/community/card/theirs.js';
const given = (...provides: string[]) => ({ provides, digest: 'sha256:0123456789abcdef', isNew: true });

describe('a plugin', () => {
  test('whose script has another path takes the place of the former one in the dashboards', async () => {
    const { client, all } = hubWith({ old: '/local/community/card/card.js?digest=1', person: PERSON });
    const shown = await activators.plugin.activate(
      client,
      given('/local/community/card/bundle.js', '/local/community/card/card.js'),
    );
    expect(shown).toMatchObject({ type: 'active', provides: ['/local/community/card/bundle.js'] });
    expect([...all.values()]).toEqual([PERSON, '/local/community/card/bundle.js?digest=0123456789ab']);
  });

  test('that is removed before the hub has loaded it leaves no former script', async () => {
    const { client, all } = hubWith({ old: '/local/community/card/card.js?digest=1', person: PERSON });
    await activators.plugin.deactivate(client, [
      '/local/community/card/bundle.js',
      '/local/community/card/card.js',
    ]);
    expect([...all.values()]).toEqual([PERSON]);
  });
});

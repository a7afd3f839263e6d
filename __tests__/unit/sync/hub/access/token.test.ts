import { hub as definition, type Hub } from '../../../../../operator/kinds';
import { HUB_LABEL } from '../../../../../operator/kinds/annotations';
import { defaulted } from '../../../../../operator/kinds/schema';
import { resolveAccess } from '../../../../../operator/sync/hub/access/token';
import { aHub, services } from '../../fixtures';

const external = { url: 'http://box.example.org:8123/', tokenSecretRef: { name: 'box', key: 'token' } };

/** The access to a hub whose Secrets have the token `t`, and this label with the name of the Hub. */
function access(spec: Hub['spec'], label?: string, allowLocalHubs = false) {
  const hub = aHub({ spec });
  const labels = label === undefined ? {} : { [HUB_LABEL]: label };
  const given = services({
    settings: { allowLocalHubs, hubSourceAddress: '' },
    cache: { get: () => ({ metadata: { name: 'box', labels } }) as never },
    secrets: { get: () => Promise.resolve(new Map([['token', 't\n']])) },
  });
  return resolveAccess(given, hub, defaulted(definition.spec, spec), 'http://villa.home.svc:8123');
}

describe('resolveAccess', () => {
  test('does not trust the answers of an external hub, nor its address', async () => {
    expect(await access({ external }, 'villa')).toEqual({
      access: {
        url: 'http://box.example.org:8123',
        token: 't',
        untrusted: true,
        allowLocal: false,
      },
    });
    expect(await access({ external }, 'villa', true)).toMatchObject({ access: { allowLocal: true } });
  });

  test('reads no Secret for an external hub that does not have the label with the name of its Hub', async () => {
    for (const label of [undefined, 'cabin'])
      expect(await access({ external }, label)).toEqual({
        missing: expect.stringContaining('lacks the label hub-operator.dev/hub: villa'),
      });
  });

  test('needs no label for the Secret of a hub that the operator runs', async () => {
    expect(await access({})).toEqual({ access: { url: 'http://villa.home.svc:8123', token: 't' } });
  });
});

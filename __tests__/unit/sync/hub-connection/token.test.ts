import { hub as definition, type Hub } from '../../../../operator/kinds';
import { HUB_LABEL } from '../../../../operator/kinds/annotations';
import { defaulted } from '../../../../operator/kinds/schema';
import { resolveAccess } from '../../../../operator/sync/hub-connection/token';
import { aHub, secretReader, services } from '../fixtures';

const external = { url: 'http://box.example.org:8123/', tokenSecretRef: { name: 'box', key: 'token' } };

interface Given {
  readonly label?: string;
  readonly type?: string;
  readonly settings?: { readonly allowLocalHubs?: boolean; readonly requireSecretLabel?: boolean };
  /** Whether the operator made the Secret for this Hub. */
  readonly isOurs?: boolean;
}

/** Resolves the access to a hub whose Secrets have the token `t`, and this label and type. */
function access(spec: Hub['spec'], { label, type = 'Opaque', settings, isOurs = false }: Given = {}) {
  const hub = aHub({ spec });
  const labels = {
    ...(label !== undefined && { [HUB_LABEL]: label }),
    ...(isOurs && { 'app.kubernetes.io/managed-by': 'hub-operator' }),
  };
  const given = services({
    settings: { allowLocalHubs: false, hubSourceAddress: '', ...settings },
    applier: { isOurs: () => isOurs },
    cache: { get: () => ({ metadata: { name: 'box', labels } }) as never, list: function* () {} },
    secrets: secretReader(() => new Map([['token', 't\n']]), { labels, type }),
  });
  return resolveAccess(given, hub, defaulted(definition.spec, spec), 'http://villa.home.svc:8123');
}

describe('resolveAccess', () => {
  test('does not trust the answers of an external hub, nor its address', async () => {
    expect(await access({ external })).toEqual({
      access: {
        url: 'http://box.example.org:8123',
        token: 't',
        untrusted: true,
        allowLocal: false,
      },
    });
    expect(await access({ external }, { settings: { allowLocalHubs: true } })).toMatchObject({
      access: { allowLocal: true },
    });
  });

  const field = 'The Secret box in spec.external.tokenSecretRef';

  test('sends no token of a ServiceAccount to an external hub', async () => {
    expect(await access({ external }, { type: 'kubernetes.io/service-account-token' })).toEqual({
      isRefused: true,
      missing: expect.stringContaining(`${field} has the type kubernetes.io/service-account-token`),
    });
  });

  test('requires the label of the Hub where that is the setting', async () => {
    const settings = { requireSecretLabel: true };
    for (const label of [undefined, 'cabin'])
      expect(await access({ external }, { settings, ...(label && { label }) })).toEqual({
        isRefused: true,
        missing: expect.stringContaining(`${field} lacks the label hub-operator.dev/hub: villa`),
      });
    for (const label of ['villa', ''])
      expect(await access({ external }, { settings, label })).toHaveProperty('access.token', 't');
  });

  test('uses the token that the operator has stored for the hub, and that of no other', async () => {
    const spec = { bootstrap: { apiTokenSecretName: 'box' } };
    const settings = { requireSecretLabel: true };
    expect(await access(spec, { isOurs: true, settings })).toHaveProperty('access.token', 't');
    const other = { bootstrap: { apiTokenSecretName: 'box', enabled: false } };
    expect(await access(other, { isOurs: true })).toEqual({
      isRefused: true,
      missing: expect.stringContaining('is the operator’s own'),
    });
  });

  test('needs no label for the Secret that belongs to the Hub by its name', async () => {
    const settings = { requireSecretLabel: true };
    expect(await access({}, { settings })).toEqual({
      access: { url: 'http://villa.home.svc:8123', token: 't', lookup: expect.any(Function) },
    });
  });
});

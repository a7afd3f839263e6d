import { applyAuthorities, hasBundle, trusts } from '../../../../operator/webhook/certificate/ca-bundle';
import { ManualClock } from '../../manual-clock';
import { FakeApiClient } from '../../runtime/fake-api-client';

const base64 = (text: string) => Buffer.from(text).toString('base64');
const configuration = (...bundles: (string | undefined)[]) => ({
  metadata: { name: 'hub-operator', resourceVersion: '7' },
  webhooks: bundles.map((bundle, index) => ({
    name: `w${index}.example.org`,
    clientConfig: bundle === undefined ? {} : { caBundle: base64(bundle) },
  })),
});

describe('hasBundle', () => {
  test('every webhook must have exactly the CAs', () => {
    expect(hasBundle(configuration('a\nb\n', 'a\nb\n'), ['a', 'b'])).toBe(true);
    expect(hasBundle(configuration('a\nb\n', 'a\n'), ['a', 'b'])).toBe(false);
    expect(hasBundle(configuration('a\nb\nc\n'), ['a', 'b'])).toBe(false);
    expect(hasBundle(configuration(undefined), ['a'])).toBe(false);
  });
});

describe('trusts', () => {
  test('every webhook must have the CA, perhaps beside others', () => {
    expect(trusts(configuration('a\nb\n', 'b\n'), 'b')).toBe(true);
    expect(trusts(configuration('a\nb\n', 'a\n'), 'b')).toBe(false);
    expect(trusts(configuration(undefined), 'b')).toBe(false);
  });
});

describe('applyAuthorities', () => {
  test('applies nothing but the CAs, to the version that it knows', async () => {
    const cluster = new FakeApiClient(new ManualClock());
    await applyAuthorities(cluster, configuration('old', undefined), ['a', 'b']);
    const clientConfig = { caBundle: base64('a\nb\n') };
    expect(cluster.requests).toEqual([
      {
        method: 'PATCH',
        path: '/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations/hub-operator',
        query: { fieldManager: 'hub-operator-webhook', force: true },
        contentType: 'application/apply-patch+yaml',
        body: {
          apiVersion: 'admissionregistration.k8s.io/v1',
          kind: 'ValidatingWebhookConfiguration',
          metadata: { name: 'hub-operator', resourceVersion: '7' },
          webhooks: [
            { name: 'w0.example.org', clientConfig },
            { name: 'w1.example.org', clientConfig },
          ],
        },
      },
    ]);
  });
});

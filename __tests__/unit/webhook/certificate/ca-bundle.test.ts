import { applyBundle, hasBundle, serviceHost } from '../../../../operator/webhook/certificate/ca-bundle';
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
  test('every webhook must have exactly the CA', () => {
    expect(hasBundle(configuration('a\n', 'a\n'), 'a\n')).toBe(true);
    expect(hasBundle(configuration('a\n', 'b\n'), 'a\n')).toBe(false);
    expect(hasBundle(configuration('a\nb\n'), 'a\n')).toBe(false);
    expect(hasBundle(configuration(undefined), 'a\n')).toBe(false);
  });
});

describe('serviceHost', () => {
  test('is the name of the Service that the API server calls', () => {
    const service = { name: 'x-hub-operator-webhook', namespace: 'foo' };
    const webhooks = [{ name: 'w.example.org', clientConfig: { service } }];
    expect(serviceHost({ metadata: { name: 'x' }, webhooks })).toBe('x-hub-operator-webhook.foo.svc');
    expect(serviceHost(configuration('a'))).toBeUndefined();
  });
});

describe('applyBundle', () => {
  test('applies nothing but the CA, to the version that it knows', async () => {
    const cluster = new FakeApiClient(new ManualClock());
    await applyBundle(cluster, configuration('old', undefined), 'a\n');
    const clientConfig = { caBundle: base64('a\n') };
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

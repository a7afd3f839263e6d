import type { Hub, HubConfiguration } from '../../../operator/kinds';
import type { ReconcileContext } from '../../../operator/runtime/sync-module';
import { configurationModule } from '../../../operator/sync/configuration';
import { aHub, services } from './fixtures';

const configuration = {
  apiVersion: 'hub-operator.dev/v1',
  kind: 'HubConfiguration',
  metadata: { namespace: 'home', name: 'villa', uid: '1' },
  spec: { hubRef: { name: 'villa' }, configuration: '' },
} as unknown as HubConfiguration;

async function sync(hub: Hub | undefined) {
  const applied: string[] = [];
  const given = services({
    cache: { get: (kind: string) => (kind === 'Hub' ? hub : undefined) as never },
    applier: {
      apply: (_type, { metadata }) => {
        applied.push(metadata.name);
        return Promise.resolve(undefined as never);
      },
    },
  });
  return { outcome: await configurationModule(given).sync(configuration, {} as ReconcileContext), applied };
}

describe('configurationModule', () => {
  test('generates the ConfigMap without a Hub, and waits for it', async () => {
    const { outcome, applied } = await sync(undefined);
    expect(applied).toEqual(['villa-configuration']);
    expect(outcome).toMatchObject({
      type: 'Waiting',
      reason: 'HubNotFound',
      status: { configHash: expect.stringMatching(/^sha256:/) },
    });
  });

  test('is ready with its Hub', async () => {
    expect((await sync(aHub())).outcome).toMatchObject({ type: 'Ready', reason: 'ConfigurationGenerated' });
  });
});

import type { HubStatus } from '../../../../../operator/kinds/hub';
import type { ClusterObject, ResourceType } from '../../../../../operator/runtime/objects';
import type { Discovery } from '../../../../../operator/runtime/discovery';
import { ensureIngress } from '../../../../../operator/sync/hub/exposure/ingress';
import { aHub, aHubContext, services } from '../../fixtures';

const tls = { enabled: true, issuerRef: { name: 'letsencrypt' } };
const ingress = { enabled: true, host: 'home.example.org', tls };

/** Runs a reconcile with or without cert-manager, and returns the result. */
async function reconcile(installed: boolean, conditions: HubStatus['conditions'] = []) {
  const applied: ClusterObject[] = [];
  const apply = <T extends ClusterObject>(_: ResourceType, object: ClusterObject) => {
    applied.push(object);
    return Promise.resolve(object as T);
  };
  const discovery = { serves: () => Promise.resolve(installed) } as unknown as Discovery;
  const context = aHubContext(aHub({ spec: { ingress }, status: { conditions } }));
  await ensureIngress(services({ applier: { apply }, cache: {} }), discovery).run(context);
  return { context, applied: new Map(applied.map((object) => [object.kind, object])) };
}

describe('ensureIngress', () => {
  test('without cert-manager serves HTTP, reports it once, and requeues although nothing else changes', async () => {
    const { applied, context } = await reconcile(false);
    expect([...applied.keys()]).toEqual(['Ingress']);
    expect(applied.get('Ingress')).not.toHaveProperty('spec.tls');
    const condition = { status: 'False', reason: 'CertManagerNotInstalled' } as const;
    expect(context.conditions['CertManagerAvailable']).toMatchObject(condition);
    expect(context.events).toMatchObject([{ type: 'Warning', reason: 'CertManagerUnavailable' }]);
    expect(context.requeueAfter).toBe(30_000);

    const before = { type: 'CertManagerAvailable', message: '', lastTransitionTime: '', ...condition };
    const next = await reconcile(false, [before]);
    expect(next.context.events).toEqual([]);
    expect(next.context.requeueAfter).toBe(30_000);
  });

  test('with cert-manager serves HTTPS with the certificate that it issues', async () => {
    const { applied, context } = await reconcile(true);
    expect(applied.get('Certificate')).toMatchObject({
      spec: { secretName: 'villa-tls', dnsNames: ['home.example.org'], issuerRef: { name: 'letsencrypt' } },
    });
    expect(applied.get('Ingress')).toMatchObject({
      spec: { tls: [{ hosts: ['home.example.org'], secretName: 'villa-tls' }] },
    });
    expect(context.conditions['CertManagerAvailable']).toMatchObject({ status: 'True' });
    expect(context.events).toEqual([]);
  });
});

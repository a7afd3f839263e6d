import { freshNamespace, until } from '../../cluster';
import { forceReconcile } from '../../cluster/forced-reconcile';
import { configuration, Home, hub } from '../../cluster/home';
import { startTestOperator } from '../../cluster/operator';

// Two installations that work in one namespace, each with its own lease.

test('two operators in one namespace name each other in Ready of the Hub', async () => {
  const home = new Home(await freshNamespace('two-operators'));
  const first = await startTestOperator(home.namespace);
  await home.apply(hub('h'), configuration('h'));
  await home.ready('hub', 'h');
  const second = await startTestOperator(home.namespace, {
    settings: { LEASE_NAME: 'another', POD_NAME: 'another' },
  });
  // The second operator may write once more before it has seen the lease of the first.
  const named = await until('both are named', async () => {
    await forceReconcile(home, 'hub', 'h');
    const { message } = (await home.condition('hub', 'h', 'Ready'))!;
    const [, ...leases] =
      /The operators with the leases (\S+) and (\S+) work on this Hub/.exec(message) ?? [];
    expect(await home.condition('hub', 'h', 'OnlyOperator')).toMatchObject({
      status: 'False',
      reason: 'SeveralOperators',
      message: leases.join(', '),
    });
    return leases;
  });
  expect(named.map((lease) => lease.split('/')[1])).toEqual(['another', home.namespace]);

  // Both operators write the same list, so nothing is written while nothing changes. The last forced reconcile
  // may still be in progress.
  await first.calm();
  await second.calm();
  const { resourceVersion } = (await home.get('hub', 'h')).metadata;
  await second.calm();
  expect((await home.get('hub', 'h')).metadata.resourceVersion).toBe(resourceVersion);
});

import type { CustomResource } from '../../../operator/kinds/resource';
import type { Cache } from '../../../operator/runtime/cache';
import { objectKey } from '../../../operator/runtime/object-key';
import { writeSecretsYaml } from '../../../operator/sync/secrets-yaml/secrets-yaml';
import { clusterState } from '../../../operator/webhook/cluster-state';
import { definitionOf, ours } from './requests';

const readyIs = (status: 'True' | 'False', observedGeneration: number) => ({
  conditions: [
    { type: 'Ready', status, reason: 'x', message: '', observedGeneration, lastTransitionTime: '' },
  ],
});

/**
 * A cluster with one HubSecrets of the Hub `villa`, and the last read of its generated Secret and of its
 * source.
 */
function setup({
  ready = 'True',
  observed = 2,
  read = ['villa-secrets', 'first', 'second'],
  exists = true,
}: { ready?: 'True' | 'False'; observed?: number; read?: string[]; exists?: boolean } = {}) {
  const secretRefs = [{ name: 'first' }, { name: 'second' }];
  const source = {
    ...ours('HubSecrets', 'keys', { secretRefs }, { generation: 2 }),
    status: readyIs(ready, observed),
  } as CustomResource;
  const { text } = writeSecretsYaml(new Map([['password', 'hunter2']]), 'salt');
  return clusterState({
    cache: {
      get: (kind: string, namespace: string, name: string) =>
        name === 'porch' ? ours(kind, name, {}, { namespace }) : undefined,
      ofHub: function* (_: string, __: string, hub: string) {
        if (exists && hub === 'villa') yield source;
      },
    } as unknown as Cache,
    controller: {
      othersWithIdentity: () => [
        objectKey('HubAutomation', 'home', 'porch'),
        objectKey('HubAutomation', 'home', 'gone'),
      ],
    },
    secrets: {
      lastRead: (_, name) =>
        read.includes(name)
          ? new Map([name === 'villa-secrets' ? ['secrets.yaml', text] : ['password', 'hunter2']])
          : undefined,
    },
  });
}

describe('clusterState', () => {
  test('others with the identity are read from the cache; one that has been deleted since is left out', () => {
    const asked = ours('HubAutomation', 'second', { id: 'porch' });
    const others = setup().othersWithIdentity(definitionOf('HubAutomation'), asked);
    expect(others.map(({ metadata }) => metadata.name)).toEqual(['porch']);
  });

  test('the keys of a hub are those of the Secret that was read last', () => {
    expect(setup().secretsOf('home', 'villa')?.values.get('password')).toBe('hunter2');
  });

  test.each([
    ['there is no HubSecrets', setup({ exists: false })],
    ['it is not Ready, so that its Secret may lack keys', setup({ ready: 'False' })],
    ['its spec has changed since the Secret was written', setup({ observed: 1 })],
    ['this replica has not read the Secret', setup({ read: ['first', 'second'] })],
    ['one of its Secrets has changed and was not read again', setup({ read: ['villa-secrets', 'first'] })],
  ])('nothing is known when %s', (_, state) => {
    expect(state.secretsOf('home', 'villa')).toBeUndefined();
  });
});

import type { HubCommunityRepository } from '../../../../operator/kinds';
import { API_GROUP } from '../../../../operator/kinds/group';
import type { Manifest } from '../../../../operator/runtime/apply';
import { ObjectRejected } from '../../../../operator/runtime/apply-errors';
import type { ClusterObject, ResourceType } from '../../../../operator/runtime/objects';
import { ownerReferenceTo, ObjectOwnership } from '../../../../operator/runtime/object-ownership';
import { InstallRejected } from '../../../../operator/sync/community/errors';
import { Installer } from '../../../../operator/sync/community/installer';
import type { HubWorkload } from '../../../../operator/sync/community/installer-pod';
import { resource } from '../../resource';
import { services } from '../fixtures';

type Spec = HubCommunityRepository['spec'];

const spec: Spec = { hubRef: { name: 'villa' }, category: 'theme', repository: 'o/n', ref: 'v1' };
const owner = resource<Spec, object>('night', spec) as HubCommunityRepository;
const installation = { install: null, remove: [], claimUID: 'uid-of-claim' };
const workload = {
  set: { spec: { template: { spec: {} } } },
  claimName: 'villa-config',
  nodeName: 'node',
} as unknown as HubWorkload;

let objects: ClusterObject[];
/** When the API server rejects the pod: at validation, or only at creation. */
let rejects: 'nothing' | 'validation' | 'creation';
let writes: number;

beforeEach(() => {
  [objects, rejects, writes] = [[], 'nothing', 0];
});

function installer(): Installer {
  const ownership = new ObjectOwnership(API_GROUP);
  const rejection = () => new ObjectRejected('exceeded quota', undefined, true);
  return new Installer(
    services({
      cache: {
        get: <T extends ClusterObject>(kind: string, _: string, name: string) =>
          objects.find((each) => each.kind === kind && each.metadata.name === name) as T | undefined,
        *list<T extends ClusterObject>(kind: string) {
          yield* objects.filter((each) => each.kind === kind) as T[];
        },
      },
      applier: {
        isOurs: (object, resource) => ownership.isOwnedBy(object, resource),
        dryRun: () => (rejects === 'validation' ? Promise.reject(rejection()) : Promise.resolve()),
        apply: <T extends ClusterObject>(type: ResourceType, desired: Manifest) => {
          if (type.kind === 'Pod' && rejects === 'creation') return Promise.reject(rejection());
          writes++;
          const metadata = { ...desired.metadata, ownerReferences: [ownerReferenceTo(owner)] };
          objects.push({ ...desired, metadata });
          return Promise.resolve(desired as unknown as T);
        },
        remove: (_, __, name) => {
          objects = objects.filter(({ metadata }) => metadata.name !== name);
          return Promise.resolve();
        },
      },
    }),
  );
}

const start = () => installer().start(owner, installation, [Buffer.from('a'), Buffer.from('b')], workload);

describe('Installer', () => {
  test('writes the files into Secrets, and deletes them with the pod', async () => {
    await start();
    expect(objects.map(({ kind }) => kind)).toEqual(['Secret', 'Secret', 'Pod']);
    await installer().clean(owner);
    expect(objects).toEqual([]);
  });

  test('writes no Secret for a pod that is not admitted', async () => {
    rejects = 'validation';
    await expect(start()).rejects.toThrow(InstallRejected);
    expect(writes).toBe(0);
  });

  test('deletes the Secrets of a pod that is rejected when it is created', async () => {
    rejects = 'creation';
    await expect(start()).rejects.toThrow('exceeded quota');
    expect(writes).toBe(2);
    expect(objects).toEqual([]);
  });

  test('deletes the Secrets of an installation that ended before its pod was created, and no others', async () => {
    await start();
    const [secret] = objects as [ClusterObject];
    const foreign = { ...secret, metadata: { ...secret.metadata, name: 'villa-community-0123456789-0' } };
    const another = { ...secret, metadata: { ...secret.metadata, ownerReferences: [] } };
    objects = [secret, foreign];
    await installer().clean(owner);
    expect(objects).toEqual([foreign]);
    objects = [another];
    await installer().clean(owner);
    expect(objects).toEqual([another]);
  });
});

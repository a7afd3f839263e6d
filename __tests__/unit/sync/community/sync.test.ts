import type { HubCommunityRepository } from '../../../../operator/kinds';
import { communityModule } from '../../../../operator/sync/community';
import { HubClients } from '../../../../operator/sync/hub-connection/hub-clients';
import { resource } from '../../resource';
import { aHub, aHubContext, services } from '../fixtures';

type Spec = HubCommunityRepository['spec'];
type Status = NonNullable<HubCommunityRepository['status']>;

/** Returns the outcome of a dry-run. The API server and the code host are absent, and using them fails. */
function dryRun(status: Status, communityRepositories?: readonly string[]) {
  const objects: Record<string, unknown> = {
    Hub: aHub(),
    PersistentVolumeClaim: { metadata: { uid: 'claim' } },
  };
  const given = services({
    settings: { communityRepositories },
    applier: {},
    cache: { get: <T>(kind: string) => objects[kind] as T | undefined, list: function* () {} },
  });
  const { module } = communityModule(given, new HubClients(given));
  const spec: Spec = { hubRef: { name: 'villa' }, category: 'theme', repository: 'o/n', ref: 'v1' };
  const { reconcile } = aHubContext(aHub(), { dryRun: true, forced: true });
  return module.sync(resource<Spec, Status>('night', spec, { status }), reconcile);
}

const installed: Status = {
  digest: 'sha256:1',
  target: 'themes/night',
  installedVersion: 'v1',
  installedRepository: 'o/n',
  claimUID: 'claim',
};

describe('communityModule', () => {
  test('a dry-run says what would be installed and loaded, and does neither', async () => {
    const stalled = { type: 'Stalled', reason: 'DryRun' };
    expect(await dryRun({})).toEqual({
      ...stalled,
      message: 'o/n would be downloaded at v1, checked and installed. Remove the annotation to apply it.',
    });
    expect(await dryRun(installed)).toEqual({
      ...stalled,
      message: 'The hub would load /config/themes/night. Remove the annotation to apply it.',
    });
    expect(await dryRun({ ...installed, activeDigest: 'sha256:1' })).toEqual({
      type: 'Ready',
      reason: 'DryRun',
      message: 'Nothing would change.',
    });
  });

  test.each([[['o/']], [['O/N'.toLowerCase()]], [['x/y', 'o/n']], [undefined]])(
    'installs a repository that the setting %j lists',
    async (patterns) => {
      expect(await dryRun({}, patterns)).toMatchObject({ reason: 'DryRun' });
    },
  );

  test.each([[[]], [['x/']], [['o/name']], [['o']], [['oo/']]])(
    'downloads nothing that the setting %j does not list, and keeps what is installed',
    async (patterns) => {
      expect(await dryRun({}, patterns)).toMatchObject({
        type: 'Stalled',
        reason: 'RepositoryNotAllowed',
        message: expect.stringContaining('COMMUNITY_REPOSITORIES does not list it') as string,
      });
      expect(await dryRun({ ...installed, activeDigest: 'sha256:1' }, patterns)).toMatchObject({
        type: 'Ready',
      });
    },
  );
});

import type { HubCommunityRepository } from '../../../../operator/kinds';
import { operatorAnnotations } from '../../../../operator/kinds/annotations';
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

/** Returns the recorded status of a plugin whose files a pod has just written. */
async function recorded(provides: readonly string[], status: Status) {
  const installation = {
    install: {
      repository: 'o/n',
      ref: 'v2',
      target: 'www/community/n',
      isFile: false,
      digest: 'sha256:2',
      provides,
    },
    remove: [],
    claimUID: 'claim',
    parts: 1,
  };
  const terminated = { exitCode: 0, message: '{"result":"done","message":"","id":"2"}' };
  const objects: Record<string, unknown> = {
    Hub: aHub(),
    PersistentVolumeClaim: { metadata: { uid: 'claim' } },
    Pod: {
      metadata: { annotations: { [operatorAnnotations.installation]: JSON.stringify(installation) } },
      status: { containerStatuses: [{ name: 'install', state: { terminated } }] },
    },
  };
  const given = services({
    settings: { communityRepositories: undefined },
    applier: {},
    cache: { get: <T>(kind: string) => objects[kind] as T | undefined, list: function* () {} },
  });
  const { module } = communityModule(given, new HubClients(given));
  const spec: Spec = { hubRef: { name: 'villa' }, category: 'plugin', repository: 'o/n', ref: 'v2' };
  const { reconcile } = aHubContext(aHub());
  return (await module.sync(resource<Spec, Status>('card', spec, { status }), reconcile)).status;
}

describe('communityModule', () => {
  test('a former script of a plugin stays in the record until the dashboards have forgotten it', async () => {
    const [card, bundle] = ['/local/community/n/card.js', '/local/community/n/bundle.js'];
    const before = { ...installed, target: 'www/community/n', provides: [card] };
    expect(await recorded([bundle], before)).toMatchObject({ provides: [bundle, card], activeDigest: null });
    expect(await recorded([card], before)).toMatchObject({ provides: [card] });
    expect(await recorded([card], { ...before, provides: [bundle, card] })).toMatchObject({
      provides: [card, bundle],
    });
  });

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

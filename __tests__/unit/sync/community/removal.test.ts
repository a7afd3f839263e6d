import type { Hub, HubCommunityRepository } from '../../../../operator/kinds';
import { operatorAnnotations } from '../../../../operator/kinds/annotations';
import type { ClusterObject } from '../../../../operator/runtime/objects';
import { HAND_OVER } from '../../../../operator/runtime/sync-module';
import { HAND_OVER_GRACE, INSTALLED_REMOVAL_TIMEOUT } from '../../../../operator/base/limits';
import type { HubClients } from '../../../../operator/sync/hub-connection/hub-clients';
import type { Installer } from '../../../../operator/sync/community/installer';
import type { Pod } from '../../../../operator/sync/hub-pod/owned-objects';
import type { Preparations } from '../../../../operator/sync/community/preparation';
import { CommunityRemoval } from '../../../../operator/sync/community/removal';
import type { Targets } from '../../../../operator/sync/community/targets';
import { ManualClock } from '../../manual-clock';
import { resource } from '../../resource';
import { aHub, aHubContext, services } from '../fixtures';

type Spec = HubCommunityRepository['spec'];
type Status = NonNullable<HubCommunityRepository['status']>;

let clock: ManualClock;
let started: number;
let cleaned: number;
let pod: Pod | undefined;
let hub: Hub | undefined;
let claim: ClusterObject | undefined;

beforeEach(() => {
  clock = new ManualClock();
  [started, cleaned, pod, claim] = [0, 0, undefined, undefined];
  hub = aHub();
});

/** A removal whose hub runs, in a process that starts now. */
function removal(): CommunityRemoval {
  const installer = {
    find: () => pod,
    workloadOf: () => ({}),
    start: () => Promise.resolve(void started++),
    clean: () => Promise.resolve(void cleaned++),
  };
  return new CommunityRemoval(
    services({ clock, cache: { list: function* () {}, get: <T>() => claim as T | undefined } }),
    { find: () => hub } as unknown as HubClients,
    installer as unknown as Installer,
    { forget: () => undefined } as unknown as Preparations,
    { release: () => undefined } as unknown as Targets,
  );
}

/** A resource whose deletion begins now. */
function deleted(status: Status): HubCommunityRepository {
  const spec: Spec = { hubRef: { name: 'villa' }, category: 'theme', repository: 'o/n', ref: 'v1' };
  const deletionTimestamp = new Date(clock.now()).toISOString();
  return resource<Spec, Status>('night', spec, { deletionTimestamp, status });
}

const context = aHubContext().reconcile;

describe('CommunityRemoval', () => {
  test('gives up after its time limit, which excludes the time without an operator', async () => {
    const given = deleted({ target: 'themes/night' });
    await clock.advance(10 * INSTALLED_REMOVAL_TIMEOUT);
    const subject = removal();
    expect(await subject.remove(given, context)).toMatchObject({ reason: 'Removing' });
    await clock.advance(INSTALLED_REMOVAL_TIMEOUT);
    expect(await subject.remove(given, context)).toMatchObject({ reason: 'Removing' });
    expect([started, cleaned]).toEqual([1, 0]);
    await clock.advance(1);
    expect(await subject.remove(given, context)).toEqual([
      expect.objectContaining({
        reason: 'CleanupFailed',
        message: expect.stringContaining('themes/night') as unknown,
      }),
    ]);
    expect([started, cleaned]).toEqual([1, 1]);
  });

  test.each([
    ['ahead of', 1],
    ['behind', -1],
  ])('gives up as late if the clock of the API server is %s that of the operator', async (_, sign) => {
    const given = deleted({ target: 'themes/night' });
    const deletionTimestamp = new Date(clock.now() + sign * 3_600_000).toISOString();
    const other = { ...given, metadata: { ...given.metadata, deletionTimestamp } };
    const subject = removal();
    expect(await subject.remove(other, context)).toMatchObject({ reason: 'Removing' });
    await clock.advance(INSTALLED_REMOVAL_TIMEOUT + 1);
    expect(await subject.remove(other, context)).toEqual([
      expect.objectContaining({ reason: 'CleanupFailed' }),
    ]);
  });

  test('names the files that stay on a kept volume, or without a Hub', async () => {
    const given = deleted({ target: 'themes/night' });
    const left = [
      {
        type: 'Warning',
        reason: 'CleanupSkipped',
        message: expect.stringContaining('The files in /config/themes/night stay on the volume.') as unknown,
      },
    ];
    const metadata = { deletionTimestamp: '2026-01-01T00:00:00Z' };
    hub = undefined;
    expect(await removal().remove(given, context)).toEqual(left);
    expect(await removal().remove(deleted({}), context)).toEqual([]);
    hub = aHub({ metadata, spec: { storage: { retain: true } } });
    expect(await removal().remove(given, context)).toEqual(left);
    hub = aHub({ metadata });
    expect(await removal().remove(given, context)).toEqual([]);
    claim = {
      apiVersion: 'v1',
      kind: 'PersistentVolumeClaim',
      metadata: { name: 'villa-config', namespace: 'home' },
    };
    expect(await removal().remove(given, context)).toEqual(left);
    expect([started, cleaned]).toEqual([0, 0]);
  });

  test('in a dry-run leaves the files, and starts no pod', async () => {
    expect(await removal().remove(deleted({ target: 'themes/night' }), { ...context, dryRun: true })).toEqual(
      [expect.objectContaining({ reason: 'CleanupSkipped' })],
    );
    expect(started).toBe(0);
  });

  describe('with a successor, as after a rename in Git,', () => {
    const target = 'custom_components/desk';
    const record = {
      installedRepository: 'o/n',
      installedVersion: 'v1',
      target,
      digest: 'sha256:1',
      provides: ['desk'],
      claimUID: 'uid-claim',
    };
    const given = () => deleted(record);
    const successor = (spec: Partial<Spec> = {}) => ({ ...deleted({}), spec: { ...given().spec, ...spec } });
    const podThat = (installs: boolean, state: object): Pod => ({
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: {
        name: 'villa-community-1',
        namespace: 'home',
        annotations: {
          [operatorAnnotations.installation]: JSON.stringify({
            install: installs
              ? {
                  repository: 'o/n',
                  ref: 'v1',
                  target,
                  isFile: false,
                  digest: 'sha256:1',
                  provides: ['desk'],
                }
              : null,
            claimUID: 'uid-claim',
          }),
        },
      },
      status: { containerStatuses: [{ name: 'install', state }] },
    });
    const WRITING = { running: {} };
    const ENDED = { terminated: { exitCode: 0, message: '{"result": "done"}' } };

    test('leaves it the files, with any version and in a dry-run', async () => {
      expect(await removal().remove(given(), context, successor({ ref: 'v2' }))).toBe(HAND_OVER);
      expect(await removal().remove(given(), { ...context, dryRun: true }, successor())).toBe(HAND_OVER);
      hub = undefined;
      expect(await removal().remove(given(), context, successor())).toBe(HAND_OVER);
      expect(started).toBe(0);
    });

    test('waits a moment for one, then removes the files', async () => {
      const [subject, resource] = [removal(), given()];
      expect(await subject.remove(resource, context)).toMatchObject({ after: HAND_OVER_GRACE });
      await clock.advance(HAND_OVER_GRACE - 1);
      expect(await subject.remove(resource, context)).toMatchObject({ after: 1 });
      expect(started).toBe(0);
      await clock.advance(1);
      await subject.remove(resource, context);
      expect(started).toBe(1);
    });

    test('waits for the end of a pod that writes files', async () => {
      pod = podThat(true, WRITING);
      const [subject, resource] = [removal(), given()];
      expect(await subject.remove(resource, context, successor())).toMatchObject({ reason: 'Removing' });
      expect(cleaned).toBe(0);
      pod = podThat(true, ENDED);
      expect(await subject.remove(resource, context, successor())).toMatchObject({ reason: 'Removing' });
      expect(cleaned).toBe(1);
      pod = undefined;
      expect(await subject.remove(resource, context, successor())).toBe(HAND_OVER);
    });

    describe('after an update whose pod status does not show,', () => {
      const installation = {
        install: {
          repository: 'o/n',
          ref: 'v2',
          target: 'custom_components/desk2',
          isFile: false,
          digest: 'sha256:2',
          provides: ['desk2'],
        },
        claimUID: 'uid-claim',
      };
      const updating = (state: object, metadata: object = {}): Pod => {
        const annotations = { [operatorAnnotations.installation]: JSON.stringify(installation) };
        const base = podThat(true, state);
        return { ...base, metadata: { ...base.metadata, annotations, ...metadata } };
      };
      const DONE = { terminated: { exitCode: 0, message: '{"result": "done", "id": "second"}' } };

      test('hands over what the pod has left', async () => {
        pod = updating(DONE);
        const [subject, before] = [removal(), given()];
        const outcome = await subject.remove(before, context, successor());
        const status = {
          installedRepository: 'o/n',
          installedVersion: 'v2',
          target: 'custom_components/desk2',
          digest: 'sha256:2',
          provides: ['desk2'],
          claimUID: 'uid-claim',
          installationID: 'second',
        };
        expect(outcome).toMatchObject({
          reason: 'Removing',
          status: { ...status, phase: 'Removing', activeDigest: null },
        });
        expect(cleaned).toBe(0);
        const after = { ...before, status };
        await subject.remove(after, context, successor());
        pod = undefined;
        expect(await subject.remove(after, context, successor())).toBe(HAND_OVER);
        expect(cleaned).toBe(2);
      });

      const FAILED = { terminated: { exitCode: 1, message: '{"result": "failed", "message": "full"}' } };
      const stay = () => undefined;
      const forget = (): void => void (hub = undefined);
      const end = (): void => void (hub = aHub({ metadata: { deletionTimestamp: '2026-01-01T00:00:00Z' } }));
      const wait = () => clock.advance(INSTALLED_REMOVAL_TIMEOUT + 1);

      test.each<[string, Pod, () => unknown]>([
        ['has failed', updating(FAILED), stay],
        ['is deleted', updating(WRITING, { deletionTimestamp: '2026-01-01T00:00:00Z' }), stay],
        ['does not end', updating(WRITING), wait],
        ['writes while the Hub is gone', updating(WRITING), forget],
        ['writes while the Hub is being deleted', updating(WRITING), end],
      ])(
        'hands over no version if the pod %s, so that the files are installed again',
        async (_, present, go) => {
          pod = present;
          const [subject, before] = [removal(), given()];
          if (present.metadata.deletionTimestamp === undefined)
            await subject.remove(given(), context, successor());
          await go();
          const outcome = await subject.remove(before, context, successor());
          expect(outcome).toMatchObject({ status: { installedVersion: null } });
          const { installedVersion: _version, ...status } = record;
          const after = { ...before, status };
          const next = await subject.remove(after, context, successor());
          expect(next).not.toHaveProperty('status.installedVersion');
          expect(next === HAND_OVER).toBe(go !== stay);
          expect(cleaned).toBe(1);
          pod = undefined;
          expect(await subject.remove(after, context, successor())).toBe(HAND_OVER);
        },
      );
    });

    test('gets files that a removal may have begun to remove without their version', async () => {
      const [subject, resource] = [removal(), given()];
      expect(await subject.remove(resource, context)).not.toHaveProperty('status.installedVersion');
      await clock.advance(HAND_OVER_GRACE);
      expect(await subject.remove(resource, context)).toMatchObject({ status: { installedVersion: null } });
      expect(started).toBe(1);
    });

    test('removes the files if that has begun, or if the successor is of another category', async () => {
      pod = podThat(false, ENDED);
      expect(await removal().remove(given(), context, successor())).toMatchObject({
        status: { target: null },
      });
      pod = undefined;
      const [subject, resource] = [removal(), given()];
      await subject.remove(resource, context, successor({ category: 'plugin' }));
      await clock.advance(HAND_OVER_GRACE);
      await subject.remove(resource, context, successor({ category: 'plugin' }));
      expect(started).toBe(1);
    });
  });

  test('reports no files when none were installed', async () => {
    const subject = removal();
    const given = deleted({});
    pod = { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'villa-community-1', namespace: 'home' } };
    expect(await subject.remove(given, context)).toMatchObject({ reason: 'Removing' });
    await clock.advance(INSTALLED_REMOVAL_TIMEOUT + 1);
    expect(await subject.remove(given, context)).toEqual([]);
    expect(cleaned).toBe(1);
  });
});

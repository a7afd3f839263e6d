import type { HubSpec } from '../../../../../operator/kinds';
import type { Pod, StatefulSet } from '../../../../../operator/sync/hub-pod/owned-objects';
import { checkRunningVersion } from '../../../../../operator/sync/hub/workload/running-version';
import { aHub, aHubContext, services } from '../../fixtures';

const IMAGE = 'ghcr.io/home-assistant/home-assistant';

const template = (image: string) => ({ spec: { containers: [{ name: 'hub', image }] } });

const setOf = (image: string, fields: { generation?: number; updateRevision?: string } = {}): StatefulSet => {
  const { generation = 2, updateRevision = 'new' } = fields;
  return {
    metadata: { name: 'villa', generation },
    spec: { template: template(image) },
    status: { replicas: 1, observedGeneration: 2, updateRevision },
  };
};

const podOf = (image: string, fields: { deletionTimestamp?: string; ready?: string } = {}): Pod => {
  const { ready = 'True', ...metadata } = fields;
  return {
    metadata: { name: 'villa-0', labels: { 'controller-revision-hash': 'new' }, ...metadata },
    spec: template(image).spec,
    status: { conditions: [{ type: 'Ready', status: ready }] },
  };
};

interface Given {
  readonly spec?: Partial<HubSpec>;
  /** The version that the hub reports. */
  readonly version?: string;
  readonly pod?: Pod | undefined;
  readonly workload?: StatefulSet | undefined;
}

/** Returns the notice about a hub that reports a version. */
async function noticeOf(given: Given): Promise<string | undefined> {
  const { spec = {}, version = '2026.11.0' } = given;
  const asked = `${IMAGE}:${spec.version ?? '2026.12.0'}`;
  const present = { pod: podOf(asked), workload: setOf(asked), ...given };
  const context = {
    ...aHubContext(aHub({ spec: { version: '2026.12.0', ...spec } })),
    url: 'http://villa:8123',
    client: {} as never,
    core: { version } as never,
    workload: present.workload,
  };
  await checkRunningVersion(services({ cache: { get: () => present.pod as never } })).run(context);
  expect(context.notices.length).toBeLessThan(2);
  return context.notices[0];
}

describe('checkRunningVersion', () => {
  test('names an image that holds another version than its tag', async () => {
    expect(await noticeOf({})).toBe(
      `The hub is Home Assistant 2026.11.0, and spec.version is 2026.12.0: the image ${IMAGE}:2026.12.0 holds another version ` +
        'than its tag names. Correct spec.image, or set spec.version to 2026.11.0.',
    );
  });

  test('names the image of spec.podTemplate', async () => {
    const own = 'registry.home/hub:1';
    expect(await noticeOf({ pod: podOf(own), workload: setOf(own) })).toContain(
      'spec.podTemplate gives the hub the image registry.home/hub:1. Correct it there, or set',
    );
  });

  test('names the image that a policy has given only to the pod', async () => {
    expect(await noticeOf({ pod: podOf('mirror.home/hub:2026.11.0') })).toContain(
      `the pod has the image mirror.home/hub:2026.11.0 in the place of ${IMAGE}:2026.12.0, which a policy of the cluster has changed.`,
    );
  });

  test.each([
    [
      'a mirror with the version that is asked for',
      { version: '2026.12.0', pod: podOf('mirror.home/hub@sha256:0') },
    ],
    ['a tag without a patch', { spec: { version: '2026.11' } }],
    ['a name', { spec: { version: 'stable' } }],
    ['a digest', { spec: { version: `sha256:${'0'.repeat(64)}` } }],
    ['a number of an image of one’s own', { spec: { version: '1.4.0', image: 'registry.home/hub' } }],
    ['a nightly build', { version: '2026.12.0.dev202611010230' }],
  ] as const)('reports nothing for %s', async (_, given) => {
    expect(await noticeOf(given)).toBeUndefined();
  });

  test.each([
    ['the new template is not applied yet', { workload: undefined }],
    [
      'the controller has not seen the new template',
      { workload: setOf(`${IMAGE}:2026.12.0`, { generation: 3 }) },
    ],
    ['the pod is to be replaced', { workload: setOf(`${IMAGE}:2026.12.0`, { updateRevision: 'newer' }) }],
    ['the pod ends', { pod: podOf(`${IMAGE}:2026.12.0`, { deletionTimestamp: '2026-01-01T00:00:00Z' }) }],
    ['the next pod starts', { pod: podOf(`${IMAGE}:2026.12.0`, { ready: 'False' }) }],
    ['there is no pod', { pod: undefined }],
  ] as const)('does not report an update while %s', async (_, given) => {
    expect(await noticeOf(given)).toBeUndefined();
  });
});

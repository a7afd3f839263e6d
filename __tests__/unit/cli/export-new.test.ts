import { withoutResource } from '../../../cli/export/in-cluster';
import { describe as describeHub } from '../../../cli/export/resources';
import type { Cluster } from '../../../cli/cluster';
import type { ResourceType } from '../../../operator/runtime/objects';
import { ApiError } from '../../../operator/runtime/api-errors';
import { anEntry } from '../stand-in-hub/integrations';
import { CommandLine } from './command-line';

const content = {
  entities: {
    automation: ['1', '2'].map((id) => ({
      id,
      entityId: `automation.a${id}`,
      payload: { alias: `A ${id}`, triggers: [], actions: [] },
    })),
    scene: [],
    script: [],
  },
  entries: {
    floor: ['attic', 'cellar'].map((id) => ({ floor_id: id, name: id })),
    counter: [{ counter_id: 'guests', name: 'Guests' }],
    input_boolean: [{ input_boolean_id: 'guests', name: 'Guests' }],
  },
  integrations: ['sun', 'moon'].map((domain) => anEntry({ entry_id: `of-${domain}`, domain, title: domain })),
};

/** The resources of the cluster by kind, each with its Hub, its status and more fields of its spec. */
type Resources = Readonly<Record<string, readonly (readonly [hub: string, status: object, spec?: object])[]>>;

async function exported(resources: Resources, name = 'of-another-name') {
  const list = ({ kind }: ResourceType) =>
    Promise.resolve(
      (resources[kind] ?? []).map(([hub, status, spec]) => ({
        kind,
        metadata: { name },
        spec: { hubRef: { name: hub }, ...spec },
        status,
      })),
    );
  const { described: all } = describeHub('villa', content);
  const { described, notExpressed } = await withoutResource({ list } as unknown as Cluster, 'villa', all);
  return { found: described.map(({ object }) => object).toSorted(), notExpressed };
}

const ALL = [
  'floor attic',
  'floor cellar',
  'input_boolean guests',
  'counter guests',
  'automation.a1',
  'automation.a2',
  'integration moon “moon”',
  'integration sun “sun”',
];

test('an object that a resource of the Hub has, under any name, gets no file', async () => {
  const { found } = await exported({
    HubFloor: [['villa', { floorID: 'attic' }]],
    HubHelper: [['villa', { id: 'guests' }, { type: 'counter' }]],
    HubAutomation: [['villa', { automationId: '2' }]],
    HubIntegration: [['villa', { entryID: 'of-sun' }]],
  });
  expect(found).toEqual(ALL.filter((each) => !/attic|counter|a2|sun/.test(each)).toSorted());
});

test('resources of other Hubs, and those without an object yet, do not count', async () => {
  const { found } = await exported({
    HubFloor: [['barn', { floorID: 'attic' }]],
    HubAutomation: [['villa', {}]],
    HubIntegration: [['barn', { entryID: 'of-sun' }]],
  });
  expect(found).toEqual(ALL.toSorted());
});

test('an object whose name a resource with another object has is listed, and gets no file', async () => {
  const { found, notExpressed } = await exported({ HubFloor: [['barn', { floorID: 'other' }]] }, 'attic');
  expect(found).not.toContain('floor attic');
  expect(notExpressed).toEqual([
    {
      object: 'floor attic',
      reason:
        'The HubFloor attic has another object: rename this one in the hub, or write its resource by hand.',
    },
  ]);
});

test('a kind that the user may not list ends the command', async () => {
  const forbidden = new ApiError(403, 'Forbidden', 'no');
  const cluster = { list: () => Promise.reject(forbidden) } as unknown as Cluster;
  await expect(withoutResource(cluster, 'villa', [])).rejects.toThrow(forbidden);
});

test.each(['--url http://hub:8123 --token-file t --hub villa', ''])(
  '--new without a Hub in the cluster is refused: %s',
  async (options) => {
    const line = new CommandLine();
    expect(await line.run(`export --to x --new ${options}`.trim())).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('--new needs --hub NAME without --url') as string,
    });
  },
);

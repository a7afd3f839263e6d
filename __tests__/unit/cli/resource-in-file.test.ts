import { unbounded } from '../../../operator/base/bounded-task';
import { automation } from '../../../operator/kinds';
import { GROUP_VERSION } from '../../../operator/kinds/group';
import type { CustomResource } from '../../../operator/kinds/resource';
import { resourceInFile } from '../../../cli/pull/resource-in-file';

const spec = { hubRef: { name: 'villa' }, alias: 'Porch', triggers: [], actions: [] };
const inCluster = {
  apiVersion: GROUP_VERSION,
  kind: 'HubAutomation',
  metadata: { name: 'porch', namespace: 'home', uid: 'u', generation: 1 },
  spec: { ...spec, alias: 'In the cluster', driftPolicy: 'Correct' },
  status: { id: 'porch' },
} as unknown as CustomResource;
const manifest = (fields: object = {}, metadata: object = {}) =>
  JSON.stringify({
    apiVersion: GROUP_VERSION,
    kind: 'HubAutomation',
    metadata: { name: 'porch', ...metadata },
    spec: { ...spec, ...fields },
  });
const inFile = (text: string) => resourceInFile(unbounded, { path: 'f', text }, automation, inCluster);

test('the spec is that of the file with defaults, the rest that of the cluster', async () => {
  const other = manifest({ alias: 'Other' }, { name: 'other' });
  expect(await inFile(`${other}\n---\n${manifest({}, { namespace: 'home' })}`)).toMatchObject({
    kind: 'HubAutomation',
    spec: { alias: 'Porch', driftPolicy: 'Correct' },
    status: { id: 'porch' },
    metadata: { uid: 'u' },
  });
});

test.each([
  ['another name', manifest({}, { name: 'other' }), 'f has no HubAutomation porch: name the file'],
  ['another namespace', manifest({}, { namespace: 'b' }), 'f has no HubAutomation porch: name the file'],
  ['no YAML', 'a: [b', 'f:1: '],
  ['a mistake', manifest({ alias: 5 }), 'f:1: spec.alias: '],
  [
    'another hub',
    manifest({ hubRef: { name: 'b' } }),
    'another spec.hubRef than the cluster: apply the file first',
  ],
  ['another object', manifest({ hubId: '5' }), 'another spec.hubId than the cluster: apply the file first'],
])('%s is an error', async (_, text, message) => {
  await expect(inFile(text)).rejects.toThrow(message);
});

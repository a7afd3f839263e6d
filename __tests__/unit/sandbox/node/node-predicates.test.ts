import type { V1Pod, V1PodSpec } from '@kubernetes/client-node';
import { unschedulable, wantsNode } from '../../../../sandbox/node/node-predicates';

const node = {
  metadata: { labels: { 'kubernetes.io/hostname': 'sandbox' } },
  status: { allocatable: { cpu: '2', memory: '8388608Ki' } },
};
const phases: Record<string, string> = { bound: 'Bound', pending: 'Pending' };
const lookup = {
  configMap: () => undefined,
  secret: () => undefined,
  volume: () => undefined,
  claim: (_: string, name: string) => (phases[name] ? { status: { phase: phases[name] } } : undefined),
};

const pod = (spec: Partial<V1PodSpec>): V1Pod => ({
  metadata: { name: 'hub-0', namespace: 'home' },
  spec: { containers: [{ name: 'hub' }], ...spec },
});
const claimed = (claimName: string) =>
  pod({ volumes: [{ name: 'config', persistentVolumeClaim: { claimName } }] });
const requesting = (requests: Record<string, string>) =>
  pod({ containers: [{ name: 'hub', resources: { requests } }] });
const requiring = (key: string, operator: string, values?: string[]) =>
  pod({
    affinity: {
      nodeAffinity: {
        requiredDuringSchedulingIgnoredDuringExecution: {
          nodeSelectorTerms: [{ matchExpressions: [{ key, operator, ...(values && { values }) }] }],
        },
      },
    },
  });

const mismatch = "1 node(s) didn't match Pod's node affinity/selector";

describe('unschedulable, wantsNode', () => {
  test.each<[string, V1Pod]>([
    ['a plain pod', pod({})],
    ['one with a bound claim', claimed('bound')],
    ['one that selects the node', pod({ nodeSelector: { 'kubernetes.io/hostname': 'sandbox' } })],
    ['one that requires the node', requiring('kubernetes.io/hostname', 'In', ['other', 'sandbox'])],
    ['one that forbids another', requiring('kubernetes.io/hostname', 'NotIn', ['other'])],
    ['one with modest requests', requesting({ cpu: '1500m', memory: '8Gi' })],
  ])('%s is taken', (_, given) => {
    expect(unschedulable(given, node, lookup)).toBeUndefined();
  });

  test.each<[string, V1Pod, string]>([
    ['a selector that nothing matches', pod({ nodeSelector: { zigbee: 'yes' } }), mismatch],
    ['a requirement that nothing meets', requiring('zigbee', 'Exists'), mismatch],
    ['a claim that is not there', claimed('none'), 'persistentvolumeclaim "none" not found'],
    ['a claim that is not bound', claimed('pending'), 'pod has unbound immediate PersistentVolumeClaims'],
    ['more memory than there is', requesting({ memory: '9G' }), '1 Insufficient memory'],
    ['a device', requesting({ 'example.com/zigbee': '1' }), '1 Insufficient example.com/zigbee'],
  ])('%s leaves the pod pending', (_, given, problem) => {
    expect(unschedulable(given, node, lookup)).toBe(`0/1 nodes are available: ${problem}.`);
  });

  test('only pods that ask the default scheduler, and may go, are looked at', () => {
    expect(wantsNode(pod({ schedulerName: 'default-scheduler' }))).toBe(true);
    expect(wantsNode(pod({ schedulerName: 'other' }))).toBe(false);
    expect(wantsNode(pod({ nodeName: 'sandbox' }))).toBe(false);
    expect(wantsNode(pod({ schedulingGates: [{ name: 'wait' }] }))).toBe(false);
    expect(wantsNode({ ...pod({}), metadata: { deletionTimestamp: new Date() } })).toBe(false);
  });
});

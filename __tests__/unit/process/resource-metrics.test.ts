import { userAnnotations } from '../../../operator/kinds/annotations';
import type { Condition } from '../../../operator/kinds/condition';
import type { CustomResource } from '../../../operator/kinds/resource';
import { Metrics } from '../../../operator/process/metrics';
import {
  observeResources,
  type ResourceState,
  resourceState,
} from '../../../operator/process/resource-metrics';
import { resource } from '../resource';

const condition = (type: string, status: Condition['status']): Condition => ({
  type,
  status,
  reason: 'Tested',
  message: 'Tested.',
  observedGeneration: 1,
  lastTransitionTime: '2026-01-01T00:00:00Z',
});

const ready = { observedGeneration: 1, conditions: [condition('Ready', 'True')] };
const waiting = {
  observedGeneration: 1,
  conditions: [condition('Ready', 'False'), condition('Reconciling', 'True')],
};
const stalled = {
  observedGeneration: 1,
  conditions: [condition('Ready', 'False'), condition('Stalled', 'True')],
};

const dryRun = { [userAnnotations.dryRun]: 'true' };

async function samples(metrics: Metrics, name: string): Promise<string[]> {
  const page = await metrics.registry.metrics();
  return page.split('\n').filter((line) => line.startsWith(`${name}{`) || line.startsWith(`${name} `));
}

describe('observeResources', () => {
  test.each<[string, ResourceState, CustomResource]>([
    ['is Ready', 'ready', resource('a', {}, { status: ready })],
    ['waits', 'reconciling', resource('a', {}, { status: waiting })],
    ['is stalled', 'stalled', resource('a', {}, { status: stalled })],
    ['has no status yet', 'reconciling', resource('a', {})],
    ['was Ready before its spec changed', 'reconciling', resource('a', {}, { status: ready, generation: 2 })],
    [
      'was stalled before its spec changed',
      'reconciling',
      resource('a', {}, { status: stalled, generation: 2 }),
    ],
    [
      'is suspended and was stalled before',
      'suspended',
      resource('a', { suspend: true }, { status: stalled }),
    ],
    ['is new and in a dry-run', 'suspended', resource('a', {}, { annotations: dryRun })],
    [
      'changed in a dry-run',
      'suspended',
      resource('a', {}, { annotations: dryRun, status: stalled, generation: 2 }),
    ],
    [
      'has the annotation of a dry-run with another value',
      'ready',
      resource('a', {}, { annotations: { [userAnnotations.dryRun]: 'false' }, status: ready }),
    ],
  ])('a resource that %s is %s', (_, state, tested) => {
    expect(resourceState(tested)).toBe(state);
  });

  test('each kind has a series for every state, and their sum is the number of resources', async () => {
    const metrics = new Metrics('1.2.3');
    const resources = new Map([
      ['HubScene', [resource('a', {}, { status: ready }), resource('b', {}, { status: stalled })]],
      ['HubArea', []],
    ]);
    observeResources(metrics, [...resources.keys()], (kind) => resources.get(kind) ?? []);
    const found = await samples(metrics, 'hub_operator_resources');
    expect(found).toEqual([
      'hub_operator_resources{kind="HubScene",state="ready"} 1',
      'hub_operator_resources{kind="HubScene",state="reconciling"} 0',
      'hub_operator_resources{kind="HubScene",state="stalled"} 1',
      'hub_operator_resources{kind="HubScene",state="suspended"} 0',
      'hub_operator_resources{kind="HubArea",state="ready"} 0',
      'hub_operator_resources{kind="HubArea",state="reconciling"} 0',
      'hub_operator_resources{kind="HubArea",state="stalled"} 0',
      'hub_operator_resources{kind="HubArea",state="suspended"} 0',
    ]);
    resources.set('HubScene', []);
    expect(await samples(metrics, 'hub_operator_resources')).toContain(
      'hub_operator_resources{kind="HubScene",state="stalled"} 0',
    );
  });

  test('automations, scenes and scripts that refer to what their hub does not have are counted', async () => {
    const metrics = new Metrics('1.2.3');
    const of = (status: Condition['status']) => ({ conditions: [condition('ReferencesFound', status)] });
    const all = [of('False'), of('False'), of('True'), of('Unknown'), {}];
    const resources = all.map((status, index) => resource(`a${index}`, {}, { status }));
    observeResources(metrics, [], (kind) => (kind === 'HubScript' ? resources : []));
    expect(await samples(metrics, 'hub_operator_resources_with_missing_references')).toEqual([
      'hub_operator_resources_with_missing_references{kind="HubAutomation"} 0',
      'hub_operator_resources_with_missing_references{kind="HubScene"} 0',
      'hub_operator_resources_with_missing_references{kind="HubScript"} 2',
    ]);
  });

  test('a Hub has its phase, its conditions and its restarts for bans, and none of them once it is deleted', async () => {
    const metrics = new Metrics('1.2.3');
    const banned = {
      observedGeneration: 1,
      phase: 'Unknown',
      selfUnbanCount: 3,
      conditions: [condition('Ready', 'False'), condition('BanRecoveryFailed', 'True')],
    };
    let hubs = [resource('villa', {}, { status: banned }), resource('fresh', {})];
    observeResources(metrics, [], () => hubs);
    const all = async () => [
      ...(await samples(metrics, 'hub_operator_hub_phase')),
      ...(await samples(metrics, 'hub_operator_hub_condition')),
      ...(await samples(metrics, 'hub_operator_hub_self_unbans')),
    ];
    expect(await all()).toEqual([
      'hub_operator_hub_phase{hub_namespace="home",hub="villa",phase="Unknown"} 1',
      'hub_operator_hub_phase{hub_namespace="home",hub="fresh",phase="Pending"} 1',
      'hub_operator_hub_condition{hub_namespace="home",hub="villa",type="Ready"} 0',
      'hub_operator_hub_condition{hub_namespace="home",hub="villa",type="BanRecoveryFailed"} 1',
      'hub_operator_hub_condition{hub_namespace="home",hub="fresh",type="Ready"} 0',
      'hub_operator_hub_self_unbans{hub_namespace="home",hub="villa"} 3',
      'hub_operator_hub_self_unbans{hub_namespace="home",hub="fresh"} 0',
    ]);
    hubs = [];
    expect(await all()).toEqual([]);
  });
});

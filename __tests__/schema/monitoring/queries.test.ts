import { ruleFile } from '../../../manifests/monitoring/objects';
import { dashboardQueries } from '../../../manifests/monitoring/dashboard';
import { observeMemoryLimits } from '../../../operator/process/memory-metrics';
import { Metrics } from '../../../operator/process/metrics';
import { observeResources } from '../../../operator/process/resource-metrics';
import { evaluateRules, type RulesAnswer } from '../../../sandbox/checks';

/**
 * A query with a misspelt metric or label has an empty result and no error, so each name is compared with the
 * metrics of the operator.
 */

/**
 * Labels that Prometheus adds: those of a target, and the label of the cluster that federated servers set.
 */
const TARGET = ['job', 'instance', 'namespace', 'cluster'];

/** Returns the label names of each metric, including the series of histograms. */
function labelsByMetric(): ReadonlyMap<string, readonly string[]> {
  const metrics = new Metrics('1.2.3');
  metrics.observeQueue({ depthByKind: () => new Map(), agesByKind: () => new Map() }, 1);
  metrics.observeCache(() => new Map());
  observeMemoryLimits(metrics);
  observeResources(metrics, [], () => []);
  const all = metrics.registry.getMetricsAsArray() as unknown as readonly {
    readonly name: string;
    readonly type: string;
    readonly labelNames?: readonly string[];
  }[];
  return new Map(
    all.flatMap(({ name, type, labelNames = [] }): [string, readonly string[]][] =>
      type === 'histogram'
        ? [
            [`${name}_bucket`, [...labelNames, 'le']],
            [`${name}_count`, labelNames],
            [`${name}_sum`, labelNames],
          ]
        : [[name, labelNames]],
    ),
  );
}

let expressions: RulesAnswer['expressions'];

beforeAll(async () => {
  ({ expressions } = await evaluateRules({
    interval: 60,
    series: [],
    rules: JSON.stringify(ruleFile()),
    end: 0,
    queries: dashboardQueries.map(({ expression }) => expression.replaceAll('$__rate_interval', '5m')),
  }));
});

describe('queries of alerts and dashboard', () => {
  test('each metric and each label is one of the operator', () => {
    const known = labelsByMetric();
    const unknown = expressions.flatMap(({ text, selectors, labels }) => [
      ...selectors
        .filter(({ metric }) => !known.has(metric))
        .map(({ metric }) => `${metric} is no metric: ${text}`),
      ...selectors.flatMap(({ metric, labels: matched }) =>
        matched
          .filter((name) => !known.get(metric)?.includes(name))
          .map((name) => `${metric} has no label ${name}: ${text}`),
      ),
      ...labels
        .filter(
          (name) =>
            !TARGET.includes(name) && !selectors.some(({ metric }) => known.get(metric)?.includes(name)),
        )
        .map((name) => `no metric has the label ${name}: ${text}`),
    ]);
    expect(unknown).toEqual([]);
    expect(expressions.flatMap(({ selectors }) => selectors).length).toBeGreaterThan(50);
  });
});

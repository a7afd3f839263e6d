import { Metrics } from '../../../operator/process/metrics';

/** Returns the samples of a scrape by name and labels, as Prometheus reads them. */
async function scrape(metrics: Metrics): Promise<Record<string, string>> {
  const lines = (await metrics.registry.metrics())
    .split('\n')
    .filter((line) => line && !line.startsWith('#'));
  return Object.fromEntries(
    lines.map((line) => [line.slice(0, line.lastIndexOf(' ')), line.slice(line.lastIndexOf(' ') + 1)]),
  );
}

function setup() {
  const metrics = new Metrics('1.2.3');
  const ages = new Map([
    ['Hub', [1_500, 500]],
    ['HubArea', []],
  ]);
  const depths = new Map([
    ['Hub', 3],
    ['HubArea', 0],
  ]);
  metrics.observeQueue({ depthByKind: () => depths, agesByKind: () => ages }, 16);
  return { metrics, depths, ages };
}

describe('Metrics', () => {
  test('the queue and its workers have the names and labels of controller-runtime', async () => {
    const { metrics, ages, depths } = setup();
    expect(await scrape(metrics)).toMatchObject({
      'workqueue_depth{name="Hub",controller="Hub"}': '3',
      'workqueue_depth{name="HubArea",controller="HubArea"}': '0',
      'workqueue_unfinished_work_seconds{name="Hub",controller="Hub"}': '2',
      'workqueue_longest_running_processor_seconds{name="Hub",controller="Hub"}': '1.5',
      'workqueue_longest_running_processor_seconds{name="HubArea",controller="HubArea"}': '0',
      'controller_runtime_active_workers{controller="Hub"}': '2',
      'controller_runtime_active_workers{controller="HubArea"}': '0',
      'controller_runtime_max_concurrent_reconciles{controller="Hub"}': '16',
    });
    ages.set('Hub', []);
    depths.set('Hub', 0);
    expect(await scrape(metrics)).toMatchObject({
      'workqueue_depth{name="Hub",controller="Hub"}': '0',
      'workqueue_unfinished_work_seconds{name="Hub",controller="Hub"}': '0',
      'controller_runtime_active_workers{controller="Hub"}': '0',
    });
  });

  test('cached objects are counted at each scrape', async () => {
    const metrics = new Metrics('1.2.3');
    const sizes = new Map([['HubFloor', 2]]);
    metrics.observeCache(() => sizes);
    expect(await scrape(metrics)).toMatchObject({ 'hub_operator_cached_objects{kind="HubFloor"}': '2' });
    sizes.set('HubFloor', 0);
    expect(await scrape(metrics)).toMatchObject({ 'hub_operator_cached_objects{kind="HubFloor"}': '0' });
  });

  test('reconciles are counted by their result, each kind from zero', async () => {
    const { metrics } = setup();
    metrics.countReconcile('Hub', 'success');
    metrics.countReconcile('Hub', 'success');
    metrics.countReconcile('Hub', 'error');
    metrics.countStalled('Hub');
    metrics.countPanic('Hub');
    metrics.countTimeout('Hub');
    metrics.observeDuration('Hub', 0.5);
    const samples = await scrape(metrics);
    expect(samples).toMatchObject({
      'controller_runtime_reconcile_total{controller="Hub",result="success"}': '2',
      'controller_runtime_reconcile_total{controller="Hub",result="error"}': '1',
      'controller_runtime_reconcile_total{controller="HubArea",result="requeue_after"}': '0',
      'controller_runtime_reconcile_errors_total{controller="Hub"}': '1',
      'controller_runtime_reconcile_errors_total{controller="HubArea"}': '0',
      'controller_runtime_terminal_reconcile_errors_total{controller="Hub"}': '1',
      'controller_runtime_terminal_reconcile_errors_total{controller="HubArea"}': '0',
      'controller_runtime_reconcile_panics_total{controller="Hub"}': '1',
      'controller_runtime_reconcile_panics_total{controller="HubArea"}': '0',
      'controller_runtime_reconcile_timeouts_total{controller="Hub"}': '1',
      'controller_runtime_reconcile_timeouts_total{controller="HubArea"}': '0',
      'controller_runtime_reconcile_time_seconds_count{controller="Hub"}': '1',
      'workqueue_adds_total{name="HubArea",controller="HubArea"}': '0',
      'workqueue_retries_total{name="HubArea",controller="HubArea"}': '0',
    });
  });

  test('reports of the queue are counted under the kind of the key', async () => {
    const { metrics } = setup();
    const observer = metrics.queueObserver((key) => key.split('/')[0]!);
    observer.added('Hub/home/a');
    metrics.countRetry('Hub');
    observer.started('Hub/home/a', 250);
    observer.finished('Hub/home/a', 1_250);
    expect(await scrape(metrics)).toMatchObject({
      'workqueue_adds_total{name="Hub",controller="Hub"}': '1',
      'workqueue_retries_total{name="Hub",controller="Hub"}': '1',
      'workqueue_queue_duration_seconds_sum{name="Hub",controller="Hub"}': '0.25',
      'workqueue_work_duration_seconds_sum{name="Hub",controller="Hub"}': '1.25',
    });
  });

  test('requests, watches, drift, leadership and build are reported', async () => {
    const { metrics } = setup();
    metrics.countRequest('GET', 200, 'server:6443');
    metrics.countRequest('GET', 'error', 'server:6443');
    metrics.countWatchFailure('Secret');
    metrics.countDrift('HubScene', 'corrected');
    metrics.setLeader('hub-operator', true);
    expect(await scrape(metrics)).toMatchObject({
      'rest_client_requests_total{method="GET",host="server:6443",code="200"}': '1',
      'rest_client_requests_total{method="GET",host="server:6443",code="<error>"}': '1',
      'hub_operator_watch_failures_total{kind="Secret"}': '1',
      'hub_operator_drift_total{kind="HubScene",action="corrected"}': '1',
      'leader_election_master_status{name="hub-operator"}': '1',
      [`hub_operator_build_info{version="1.2.3",node_version="${process.version}"}`]: '1',
    });
  });
});

import { collectDefaultMetrics, Counter, Gauge, Histogram, Registry } from 'prom-client';
import type { QueueObserver } from '../runtime/queue';

/** Buckets of controller-runtime, in seconds. */
const RECONCILE_BUCKETS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60];
const WEBHOOK_BUCKETS = [0.001, 0.0025, 0.005, 0.01, 0.02, 0.05, 0.1, 0.25, 0.5, 1];
const QUEUE_BUCKETS = [1e-6, 1e-5, 1e-4, 1e-3, 0.01, 0.1, 1, 10, 100, 1000];

/** The part of the queue that is read at each scrape. */
interface QueueGauges {
  depthByKind(): ReadonlyMap<string, number>;
  /** The age of each running reconcile, in milliseconds. */
  agesByKind(): ReadonlyMap<string, readonly number[]>;
}

/** The results of a reconcile, with the label values of controller-runtime. */
type ResultLabel = 'success' | 'requeue_after' | 'error';

/**
 * All metrics. Where controller-runtime has a metric, its name and labels are used, so that existing dashboards and
 * alerts work; all others begin with `hub_operator_`.
 */
export class Metrics {
  readonly registry = new Registry();

  private readonly reconciles = this.counter('controller_runtime_reconcile_total', 'Reconciles by result.', [
    'controller',
    'result',
  ]);
  private readonly errors = this.counter(
    'controller_runtime_reconcile_errors_total',
    'Reconciles that failed.',
    ['controller'],
  );
  private readonly terminalErrors = this.counter(
    'controller_runtime_terminal_reconcile_errors_total',
    'Reconciles that ended with the condition `Stalled`: only the user or the hub can help.',
    ['controller'],
  );
  private readonly panics = this.counter(
    'controller_runtime_reconcile_panics_total',
    'Reconciles that failed because of a bug of the operator: please report it.',
    ['controller'],
  );
  private readonly timeouts = this.counter(
    'controller_runtime_reconcile_timeouts_total',
    'Reconciles that were abandoned at their time limit of 2 minutes.',
    ['controller'],
  );
  private readonly reconcileTime = this.histogram(
    'controller_runtime_reconcile_time_seconds',
    'Duration of reconciles.',
    ['controller'],
    RECONCILE_BUCKETS,
  );
  private readonly adds = this.counter('workqueue_adds_total', 'Keys added to the queue.', [
    'name',
    'controller',
  ]);
  private readonly retries = this.counter('workqueue_retries_total', 'Keys added again after an error.', [
    'name',
    'controller',
  ]);
  private readonly queueTime = this.histogram(
    'workqueue_queue_duration_seconds',
    'How long a key was due before its reconcile started.',
    ['name', 'controller'],
    QUEUE_BUCKETS,
  );
  private readonly workTime = this.histogram(
    'workqueue_work_duration_seconds',
    'How long the reconcile of a key took.',
    ['name', 'controller'],
    QUEUE_BUCKETS,
  );
  private readonly requests = this.counter('rest_client_requests_total', 'Requests to the API server.', [
    'code',
    'method',
    'host',
  ]);
  private readonly watchFailures = this.counter(
    'hub_operator_watch_failures_total',
    'Lists and watches that broke off.',
    ['kind'],
  );
  private readonly drift = this.counter(
    'hub_operator_drift_total',
    'Objects that were changed in a hub, by whether the change was reverted (corrected) or only reported.',
    ['kind', 'action'],
  );
  private readonly webhookRequests = this.counter(
    'controller_runtime_webhook_requests_total',
    'Requests to the webhook.',
    ['webhook', 'code'],
  );
  private readonly webhookTime = this.histogram(
    'controller_runtime_webhook_latency_seconds',
    'Duration of requests to the webhook.',
    ['webhook'],
    WEBHOOK_BUCKETS,
  );
  private readonly reviews = this.counter(
    'hub_operator_webhook_reviews_total',
    'Reviews by the webhook, by whether the object was admitted, admitted with a warning (warned) or refused.',
    ['kind', 'result'],
  );
  private readonly certificateExpiry = this.gauge(
    'hub_operator_webhook_certificate_expiry_timestamp_seconds',
    'End of the validity of the certificate that the webhook serves, in seconds since 1970. 0: it has none.',
    [],
  );
  private readonly leader = this.gauge(
    'leader_election_master_status',
    '1 while this process is the leader.',
    ['name'],
  );
  private readonly build = this.gauge('hub_operator_build_info', 'Always 1; the labels say what runs.', [
    'version',
    'node_version',
  ]);

  constructor(version: string) {
    // The default resolution of 10 ms wakes an idle process a hundred times a second: 0.4 % of a core.
    collectDefaultMetrics({ register: this.registry, eventLoopMonitoringPrecision: 100 });
    this.build.set({ version, node_version: process.version }, 1);
  }

  countReconcile(kind: string, result: ResultLabel): void {
    this.reconciles.inc({ controller: kind, result });
    if (result === 'error') this.errors.inc({ controller: kind });
  }

  observeDuration(kind: string, seconds: number): void {
    this.reconcileTime.observe({ controller: kind }, seconds);
  }

  countStalled(kind: string): void {
    this.terminalErrors.inc({ controller: kind });
  }

  countPanic(kind: string): void {
    this.panics.inc({ controller: kind });
  }

  countTimeout(kind: string): void {
    this.timeouts.inc({ controller: kind });
  }

  countRetry(kind: string): void {
    this.retries.inc({ name: kind, controller: kind });
  }

  queueObserver<Key extends string>(kindOf: (key: Key) => string): QueueObserver<Key> {
    const labels = (key: Key) => ({ name: kindOf(key), controller: kindOf(key) });
    return {
      added: (key) => this.adds.inc(labels(key)),
      started: (key, waited) => this.queueTime.observe(labels(key), waited / 1_000),
      finished: (key, worked) => this.workTime.observe(labels(key), worked / 1_000),
    };
  }

  /** `workers` are shared by all kinds. */
  observeQueue(queue: QueueGauges, workers: number): void {
    this.gauge('workqueue_depth', 'Keys that are due.', ['name', 'controller'], (gauge) => {
      for (const [kind, depth] of queue.depthByKind()) gauge.set({ name: kind, controller: kind }, depth);
    });
    const gaugeOfAges = (name: string, help: string, of: (ages: readonly number[]) => number) =>
      this.gauge(name, help, ['name', 'controller'], (gauge) => {
        for (const [kind, ages] of queue.agesByKind())
          gauge.set({ name: kind, controller: kind }, of(ages) / 1_000);
      });
    gaugeOfAges('workqueue_unfinished_work_seconds', 'Age of all running reconciles together.', (ages) =>
      ages.reduce((sum, age) => sum + age, 0),
    );
    gaugeOfAges(
      'workqueue_longest_running_processor_seconds',
      'Age of the oldest running reconcile.',
      (ages) => Math.max(0, ...ages),
    );
    this.gauge('controller_runtime_active_workers', 'Running reconciles.', ['controller'], (gauge) => {
      for (const [kind, { length }] of queue.agesByKind()) gauge.set({ controller: kind }, length);
    });
    const most = this.gauge(
      'controller_runtime_max_concurrent_reconciles',
      'Most reconciles that run at the same time, of all kinds together.',
      ['controller'],
    );
    for (const kind of queue.depthByKind().keys()) {
      most.set({ controller: kind }, workers);
      this.beginAtZero(kind);
    }
  }

  /** `sizes`: the number of cached objects by kind. */
  observeCache(sizes: () => ReadonlyMap<string, number>): void {
    this.gauge(
      'hub_operator_cached_objects',
      'Objects of the cluster that are kept in memory.',
      ['kind'],
      (gauge) => {
        for (const [kind, size] of sizes()) gauge.set({ kind }, size);
      },
    );
  }

  countRequest(method: string, code: number | 'error', host: string): void {
    this.requests.inc({ method, host, code: code === 'error' ? '<error>' : String(code) });
  }

  countDrift(kind: string, action: 'corrected' | 'reported'): void {
    this.drift.inc({ kind, action });
  }

  countWatchFailure(kind: string): void {
    this.watchFailures.inc({ kind });
  }

  countWebhookAnswer(webhook: string, code: number, seconds: number): void {
    this.webhookRequests.inc({ webhook, code: String(code) });
    this.webhookTime.observe({ webhook }, seconds);
  }

  countReview(kind: string, result: 'admitted' | 'warned' | 'refused'): void {
    this.reviews.inc({ kind, result });
  }

  /** `notAfter` in milliseconds since the epoch. */
  setCertificateExpiry(notAfter: number): void {
    this.certificateExpiry.set(notAfter / 1_000);
  }

  setLeader(leaseName: string, isLeader: boolean): void {
    this.leader.set({ name: leaseName }, isLeader ? 1 : 0);
  }

  /** Initializes the series with 0: the rate over a series that begins with its first error misses that error. */
  private beginAtZero(kind: string): void {
    for (const result of ['success', 'requeue_after', 'error'] satisfies ResultLabel[])
      this.reconciles.inc({ controller: kind, result }, 0);
    for (const failures of [this.errors, this.terminalErrors, this.panics, this.timeouts])
      failures.inc({ controller: kind }, 0);
    for (const flow of [this.adds, this.retries]) flow.inc({ name: kind, controller: kind }, 0);
  }

  private counter<L extends string>(name: string, help: string, labelNames: L[]): Counter<L> {
    return new Counter({ name, help, labelNames, registers: [this.registry] });
  }

  private histogram<L extends string>(
    name: string,
    help: string,
    labelNames: L[],
    buckets: number[],
  ): Histogram<L> {
    return new Histogram({ name, help, labelNames, buckets, registers: [this.registry] });
  }

  /** Adds a gauge; `collect` sets it at each scrape. */
  gauge<L extends string>(
    name: string,
    help: string,
    labelNames: L[],
    collect?: (gauge: Gauge<L>) => void,
  ): Gauge<L> {
    return new Gauge<L>({
      name,
      help,
      labelNames,
      registers: [this.registry],
      ...(collect && {
        collect: function (this: Gauge<L>) {
          collect(this);
        },
      }),
    });
  }
}

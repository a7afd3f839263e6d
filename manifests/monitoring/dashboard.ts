/** A query of a panel, in Prometheus' language with Grafana's variables, and the name of its series. */
interface Query {
  readonly expression: string;
  readonly legend: string;
}

interface Panel {
  readonly title: string;
  readonly type: 'stat' | 'timeseries';
  /** A unit as Grafana names it. */
  readonly unit?: string;
  readonly queries: readonly Query[];
}

interface Section {
  readonly title: string;
  readonly panels: readonly Panel[];
}

const OURS = 'controller=~"Hub.*"';
/** Filter for the pods of this operator, since other programs have metrics with equal names. */
const OUR_PODS = 'and on (job, instance) hub_operator_build_info';

const series = (title: string, expression: string, legend: string, unit = 'short'): Panel => ({
  title,
  type: 'timeseries',
  unit,
  queries: [{ expression, legend }],
});

const stat = (title: string, expression: string, unit = 'short'): Panel => ({
  title,
  type: 'stat',
  unit,
  queries: [{ expression, legend: title }],
});

const quantile = (share: number, metric: string, by: string, matchers: string): string =>
  `histogram_quantile(${share}, sum by (le, ${by}) (rate(${metric}_bucket{${matchers}}[$__rate_interval])))`;

const sections: readonly Section[] = [
  {
    title: 'Hubs and resources',
    panels: [
      stat('Hubs', 'count(max by (hub_namespace, hub) (hub_operator_hub_phase))'),
      stat(
        'Hubs that are Ready',
        'sum(max by (hub_namespace, hub) (hub_operator_hub_condition{type="Ready"}))',
      ),
      stat('Resources', 'sum(max by (kind, state) (hub_operator_resources))'),
      stat('Stalled resources', 'sum(max by (kind) (hub_operator_resources{state="stalled"}))'),
      series(
        'Phase of each hub',
        'max by (hub_namespace, hub, phase) (hub_operator_hub_phase)',
        '{{hub_namespace}}/{{hub}}: {{phase}}',
      ),
      series(
        'Conditions of each hub',
        'max by (hub_namespace, hub, type) (hub_operator_hub_condition)',
        '{{hub_namespace}}/{{hub}}: {{type}}',
      ),
      series(
        'Resources by state',
        'sum by (state) (max by (kind, state) (hub_operator_resources))',
        '{{state}}',
      ),
      series(
        'Resources that are not Ready, by kind',
        'max by (kind, state) (hub_operator_resources{state=~"reconciling|stalled"}) > 0',
        '{{kind}}: {{state}}',
      ),
      series(
        'Resources that refer to what their hub does not have',
        'max by (kind) (hub_operator_resources_with_missing_references) > 0',
        '{{kind}}',
      ),
      series(
        'Objects changed in a hub',
        'sum by (kind, action) (increase(hub_operator_drift_total[$__rate_interval]))',
        '{{kind}}: {{action}}',
      ),
      series(
        'Restarts of hubs because of a ban',
        'max by (hub_namespace, hub) (hub_operator_hub_self_unbans)',
        '{{hub_namespace}}/{{hub}}',
      ),
    ],
  },
  {
    title: 'Reconciles',
    panels: [
      series(
        'Reconciles by result',
        `sum by (result) (rate(controller_runtime_reconcile_total{${OURS}}[$__rate_interval]))`,
        '{{result}}',
        'ops',
      ),
      series(
        'Errors by kind',
        `sum by (controller) (rate(controller_runtime_reconcile_errors_total{${OURS}}[$__rate_interval]))`,
        '{{controller}}',
        'ops',
      ),
      series(
        'Duration of reconciles, 95 %',
        quantile(0.95, 'controller_runtime_reconcile_time_seconds', 'controller', OURS),
        '{{controller}}',
        's',
      ),
      series(
        'Wait in the queue, 95 %',
        quantile(0.95, 'workqueue_queue_duration_seconds', 'controller', OURS),
        '{{controller}}',
        's',
      ),
      series(
        'Resources that are due',
        `max by (controller) (workqueue_depth{${OURS}} and on (job, instance) leader_election_master_status == 1)`,
        '{{controller}}',
      ),
      series(
        'Age of the oldest running reconcile',
        `max by (controller) (workqueue_longest_running_processor_seconds{${OURS}})`,
        '{{controller}}',
        's',
      ),
    ],
  },
  {
    title: 'Operator',
    panels: [
      stat('Leaders', `sum(leader_election_master_status ${OUR_PODS})`),
      {
        title: 'Version',
        type: 'stat',
        queries: [{ expression: 'max by (version) (hub_operator_build_info)', legend: '{{version}}' }],
      },
      stat(
        'Certificate of the webhook ends in',
        'min(hub_operator_webhook_certificate_expiry_timestamp_seconds > 0) - time()',
        's',
      ),
      {
        title: 'Memory',
        type: 'timeseries',
        unit: 'bytes',
        queries: [
          { expression: `process_resident_memory_bytes ${OUR_PODS}`, legend: '{{instance}}: resident' },
          { expression: `nodejs_heap_size_used_bytes ${OUR_PODS}`, legend: '{{instance}}: heap' },
          { expression: 'max(hub_operator_memory_limit_bytes > 0)', legend: 'limit of the container' },
          { expression: 'max(hub_operator_heap_limit_bytes)', legend: 'limit of the heap' },
        ],
      },
      series(
        'CPU',
        `rate(process_cpu_seconds_total[$__rate_interval]) ${OUR_PODS}`,
        '{{instance}}',
        'percentunit',
      ),
      series(
        'Lag of the event loop, 99 %',
        `nodejs_eventloop_lag_p99_seconds ${OUR_PODS}`,
        '{{instance}}',
        's',
      ),
      series('Objects in the cache', 'max by (kind) (hub_operator_cached_objects)', '{{kind}}'),
    ],
  },
  {
    title: 'API server',
    panels: [
      series(
        'Requests by code',
        `sum by (code) (rate(rest_client_requests_total[$__rate_interval]) ${OUR_PODS})`,
        '{{code}}',
        'reqps',
      ),
      series(
        'Watches that broke off',
        'sum by (kind) (increase(hub_operator_watch_failures_total[$__rate_interval]))',
        '{{kind}}',
      ),
      series(
        'Reviews by the webhook',
        'sum by (result) (rate(hub_operator_webhook_reviews_total[$__rate_interval]))',
        '{{result}}',
        'reqps',
      ),
      series(
        'Duration of reviews, 95 %',
        `histogram_quantile(0.95, sum by (le) (rate(controller_runtime_webhook_latency_seconds_bucket[$__rate_interval]) ${OUR_PODS}))`,
        'review',
        's',
      ),
    ],
  },
];

/** Every query of the dashboard, with the title of its panel. */
export const dashboardQueries: readonly { readonly panel: string; readonly expression: string }[] =
  sections.flatMap(({ panels }) =>
    panels.flatMap(({ title, queries }) => queries.map(({ expression }) => ({ panel: title, expression }))),
  );

const DATASOURCE = { type: 'prometheus', uid: '${datasource}' };
/** Grafana's grid has 24 columns. */
const COLUMNS = 24;
const SIZES = { stat: { w: 4, h: 4 }, timeseries: { w: 12, h: 8 } } as const;

/** The dashboard as Grafana (10 or newer) imports it. */
export function dashboard() {
  return {
    uid: 'hub-operator',
    title: 'Hub Operator',
    tags: ['hub-operator'],
    schemaVersion: 39,
    version: 1,
    editable: true,
    refresh: '1m',
    time: { from: 'now-6h', to: 'now' },
    timezone: 'browser',
    templating: {
      list: [{ name: 'datasource', label: 'Data source', type: 'datasource', query: 'prometheus', hide: 0 }],
    },
    panels: panelsOnGrid(),
  };
}

/** The panels with their places: each section begins with a row of its title. */
function panelsOnGrid(): readonly object[] {
  let id = 0;
  let y = 0;
  const panels: object[] = [];
  for (const section of sections) {
    panels.push({
      id: ++id,
      type: 'row',
      title: section.title,
      collapsed: false,
      gridPos: { x: 0, y: y++, w: COLUMNS, h: 1 },
      panels: [],
    });
    let x = 0;
    let height = 0;
    for (const panel of section.panels) {
      const { w, h } = SIZES[panel.type];
      // All panels in a row have one height.
      if (x + w > COLUMNS || (height !== 0 && height !== h)) {
        x = 0;
        y += height;
      }
      panels.push({ id: ++id, ...panelOf(panel), gridPos: { x, y, w, h } });
      x += w;
      height = h;
    }
    y += height;
  }
  return panels;
}

function panelOf({ title, type, unit = 'short', queries }: Panel) {
  return {
    type,
    title,
    datasource: DATASOURCE,
    fieldConfig: { defaults: { unit, min: 0 }, overrides: [] },
    options:
      type === 'stat'
        ? { reduceOptions: { calcs: ['lastNotNull'] }, textMode: title === 'Version' ? 'name' : 'value' }
        : { legend: { displayMode: 'list', placement: 'bottom' }, tooltip: { mode: 'multi', sort: 'desc' } },
    targets: queries.map(({ expression, legend }, index) => ({
      refId: String.fromCharCode('A'.charCodeAt(0) + index),
      datasource: DATASOURCE,
      expr: expression,
      legendFormat: legend,
    })),
  };
}

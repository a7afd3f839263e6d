import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { alerts } from '../../../manifests/monitoring/alerts';
import { ruleFile } from '../../../manifests/monitoring/objects';
import { evaluateRules, type RulesAnswer, type Series } from '../../../sandbox/checks';

/** Every alert in the engine of Prometheus, with series that make it fire and with series that almost do. */

/** In seconds: the interval between two samples. */
const INTERVAL = 60;
const MINUTES = 60;
const HOURS = 60 * MINUTES;

interface Case {
  readonly alert: string;
  readonly fires: readonly Series[];
  /** Seconds from the first sample until the alert begins to fire. */
  readonly after: number;
  /** Labels of the alert in addition to its name and severity, and labels that the summary shows. */
  readonly labels: Readonly<Record<string, string>>;
  readonly summary: string;
  /** Series that must not make the alert fire, by description. */
  readonly silent: Readonly<Record<string, readonly Series[]>>;
}

const pod = 'job="hub-operator-metrics",instance="10.0.0.5:8080"';
const standby = 'job="hub-operator-metrics",instance="10.0.0.6:8080"';
const line = (metric: string, labels: string, values: string): Series => ({
  metric: `${metric}{${labels}}`,
  values,
});
const running = (values = '1x600'): Series =>
  line('hub_operator_build_info', `${pod},version="1.0.0"`, values);
const condition = (type: string, values: string): Series =>
  line('hub_operator_hub_condition', `${pod},hub_namespace="home",hub="villa",type="${type}"`, values);
const phase = (name: string, values: string): Series =>
  line('hub_operator_hub_phase', `${pod},hub_namespace="home",hub="villa",phase="${name}"`, values);
const errors = (controller: string, values: string): Series =>
  line('controller_runtime_reconcile_errors_total', `${pod},controller="${controller}"`, values);
const resources = (state: string, values: string): Series =>
  line('hub_operator_resources', `${pod},kind="HubScene",state="${state}"`, values);
const waits = (bucket: string, values: string): Series =>
  line('workqueue_queue_duration_seconds_bucket', `${pod},controller="HubScene",le="${bucket}"`, values);
const ofHub = { hub_namespace: 'home', hub: 'villa' };
const ofPod = { job: 'hub-operator-metrics', instance: '10.0.0.5:8080' };

const cases: readonly Case[] = [
  {
    alert: 'HubOperatorAbsent',
    fires: [running('1x10 stale')],
    after: 16 * MINUTES,
    labels: {},
    summary: 'The Hub Operator does not run, or Prometheus does not reach it.',
    silent: {
      'a pod that runs': [running()],
      'a restart of 4 minutes': [running('1x10 stale _x2 1x200')],
    },
  },
  {
    alert: 'HubOperatorNoLeader',
    fires: [running(), line('leader_election_master_status', `${pod},name="hub-operator"`, '1x10 0x100')],
    after: 16 * MINUTES,
    labels: { job: 'hub-operator-metrics' },
    summary: 'The Hub Operator runs, and no replica is the leader.',
    silent: {
      'a standby beside a leader': [
        running(),
        line('hub_operator_build_info', `${standby},version="1.0.0"`, '1x200'),
        line('leader_election_master_status', `${pod},name="hub-operator"`, '1x200'),
        line('leader_election_master_status', `${standby},name="hub-operator"`, '0x200'),
      ],
      'another operator without a leader': [
        running(),
        line('leader_election_master_status', `${pod},name="hub-operator"`, '1x200'),
        line('leader_election_master_status', 'job="other",instance="10.0.0.9:8080",name="other"', '0x200'),
      ],
    },
  },
  {
    alert: 'HubOperatorRestarting',
    fires: [running(), line('process_start_time_seconds', pod, '100x5 200x5 300x5 400x100')],
    after: 18 * MINUTES,
    labels: ofPod,
    summary: 'The Hub Operator was restarted 3 times within an hour.',
    silent: {
      'an update': [running(), line('process_start_time_seconds', pod, '100x5 200x200')],
      'another program that restarts': [
        running(),
        line('process_start_time_seconds', 'job="other",instance="10.0.0.9:8080"', '100+100x200'),
      ],
    },
  },
  {
    alert: 'HubOperatorReconcileErrors',
    fires: [errors('HubScene', '0x4 1+1x200')],
    after: 5 * MINUTES + 1 * HOURS,
    labels: { controller: 'HubScene' },
    summary: 'Reconciles of HubScene have been failing for more than an hour.',
    silent: {
      'an outage of the API server of 20 minutes': [errors('HubScene', '0x9 1+5x20 101x200')],
      'errors of another operator': [errors('Certificate', '0+1x200')],
    },
  },
  {
    alert: 'HubOperatorBug',
    fires: [line('controller_runtime_reconcile_panics_total', `${pod},controller="Hub"`, '0x5 1x100')],
    after: 6 * MINUTES,
    labels: { controller: 'Hub' },
    summary: 'A reconcile of Hub failed because of a bug of the operator.',
    silent: {
      'none since the start': [
        line('controller_runtime_reconcile_panics_total', `${pod},controller="Hub"`, '0x200'),
      ],
    },
  },
  {
    alert: 'HubOperatorReconcileStuck',
    fires: [
      line('workqueue_longest_running_processor_seconds', `${pod},controller="HubScene"`, '0x5 0+60x10'),
    ],
    after: 11 * MINUTES,
    labels: { controller: 'HubScene' },
    summary: 'A reconcile of HubScene has been running for 5m 0s.',
    silent: {
      'a reconcile that is abandoned after 2 minutes': [
        line('workqueue_longest_running_processor_seconds', `${pod},controller="HubScene"`, '0 60 120 0x20'),
      ],
    },
  },
  {
    alert: 'HubOperatorQueueStuck',
    fires: [
      line('workqueue_depth', `${pod},controller="HubScene"`, '0x5 7x100'),
      line('leader_election_master_status', `${pod},name="hub-operator"`, '1x200'),
      line('workqueue_queue_duration_seconds_count', `${pod},controller="HubScene"`, '0+1x5 5x100'),
    ],
    after: 24 * MINUTES,
    labels: { controller: 'HubScene' },
    summary: 'Resources of the kind HubScene are due, and none is reconciled.',
    silent: {
      'a queue that is long and moves': [
        line('workqueue_depth', `${pod},controller="HubScene"`, '700x200'),
        line('leader_election_master_status', `${pod},name="hub-operator"`, '1x200'),
        line('workqueue_queue_duration_seconds_count', `${pod},controller="HubScene"`, '0+1x200'),
      ],
      'a standby, which does not reconcile': [
        line('workqueue_depth', `${standby},controller="HubScene"`, '700x200'),
        line('leader_election_master_status', `${standby},name="hub-operator"`, '0x200'),
      ],
    },
  },
  {
    alert: 'HubOperatorQueueSlow',
    fires: [waits('10', '0x200'), waits('100', '0+9x200'), waits('+Inf', '0+10x200')],
    after: 31 * MINUTES,
    labels: {},
    summary: 'One of ten resources waits 1m 40s and more for its reconcile.',
    silent: {
      'waits of up to 10 s': [waits('10', '0+10x200'), waits('100', '0+10x200'), waits('+Inf', '0+10x200')],
      'nothing to do': [waits('10', '5x200'), waits('100', '5x200'), waits('+Inf', '5x200')],
    },
  },
  {
    alert: 'HubOperatorWatchFailing',
    fires: [line('hub_operator_watch_failures_total', `${pod},kind="Secret"`, '0+2x100')],
    after: 13 * MINUTES,
    labels: { kind: 'Secret' },
    summary: 'The operator cannot watch Secret: it does not see changes.',
    silent: {
      'a restart of the API server': [
        line('hub_operator_watch_failures_total', `${pod},kind="Secret"`, '0x5 8x200'),
      ],
    },
  },
  {
    alert: 'HubOperatorMemoryHigh',
    fires: [
      line('process_resident_memory_bytes', pod, '245e6x100'),
      line('hub_operator_memory_limit_bytes', pod, '250e6x100'),
    ],
    after: 15 * MINUTES,
    labels: ofPod,
    summary: 'The operator uses 98% of its memory.',
    silent: {
      'a container without a limit': [
        line('process_resident_memory_bytes', pod, '245e6x100'),
        line('hub_operator_memory_limit_bytes', pod, '0x100'),
      ],
      'a peak of 10 minutes': [
        line('process_resident_memory_bytes', pod, '100e6x5 245e6x9 100e6x100'),
        line('hub_operator_memory_limit_bytes', pod, '250e6x120'),
      ],
      'a heap that is half full': [
        line('nodejs_heap_size_used_bytes', pod, '80e6x100'),
        line('hub_operator_heap_limit_bytes', pod, '160e6x100'),
      ],
    },
  },
  {
    alert: 'HubOperatorWebhookCertificateExpiring',
    fires: [line('hub_operator_webhook_certificate_expiry_timestamp_seconds', pod, `${14 * 24 * HOURS}x200`)],
    after: 1 * MINUTES + 1 * HOURS,
    labels: ofPod,
    summary: 'The certificate of the webhook ends in 13d 22h 59m 0s.',
    silent: {
      'a certificate that was renewed': [
        line('hub_operator_webhook_certificate_expiry_timestamp_seconds', pod, `${30 * 24 * HOURS}x200`),
      ],
      'no webhook': [line('hub_operator_webhook_certificate_expiry_timestamp_seconds', pod, '0x200')],
    },
  },
  {
    alert: 'HubResourcesStalled',
    fires: [resources('stalled', '0x9 2x100')],
    after: 40 * MINUTES,
    labels: { kind: 'HubScene' },
    summary: '2 resources of the kind HubScene are stalled.',
    silent: {
      'one that was corrected within 20 minutes': [resources('stalled', '0x9 2x20 0x100')],
      'resources that wait': [resources('reconciling', '2x100')],
    },
  },
  {
    alert: 'HubResourcesNotReady',
    fires: [resources('reconciling', '0x9 2x200')],
    after: 10 * MINUTES + 2 * HOURS,
    labels: { kind: 'HubScene' },
    summary: 'Resources of the kind HubScene have been waiting for 2 hours.',
    silent: {
      'all that are Ready': [resources('ready', '5x200'), resources('reconciling', '0x200')],
      'a wait of an hour': [resources('reconciling', '2x60 0x200')],
    },
  },
  {
    alert: 'HubUnreachable',
    fires: [phase('Running', '1x9 stale'), phase('Unknown', '_x9 1x100')],
    after: 14 * MINUTES,
    labels: ofHub,
    summary: 'Hub home/villa does not answer.',
    silent: {
      'a restart of 3 minutes': [phase('Running', '1x9 stale _x2 1x100'), phase('Unknown', '_x9 1x2 stale')],
      'a hub that runs': [phase('Running', '1x100')],
      'a hub that is suspended': [phase('Unknown', '1x100'), condition('Suspended', '1x100')],
    },
  },
  {
    alert: 'HubNotReady',
    fires: [condition('Ready', '1x9 0x100')],
    after: 25 * MINUTES,
    labels: ofHub,
    summary: 'Hub home/villa has not been Ready for 15 minutes.',
    silent: {
      'a start of 10 minutes': [condition('Ready', '0x10 1x100')],
      'a hub that is suspended': [condition('Ready', '0x100'), condition('Suspended', '1x100')],
    },
  },
  {
    alert: 'HubConditionFailed',
    fires: [condition('BackupConfigured', '1x9 0x100')],
    after: 10 * MINUTES + 1 * HOURS,
    labels: { ...ofHub, type: 'BackupConfigured' },
    summary: 'Hub home/villa has not had the condition BackupConfigured for an hour.',
    silent: {
      'a hub without bootstrap': [condition('BootstrapReady', '0x100')],
      'a volume that is expanded for half an hour': [condition('StorageReady', '0x30 1x100')],
    },
  },
  {
    alert: 'HubBanRecoveryFailed',
    fires: [condition('BanRecoveryFailed', '0x9 1x100')],
    after: 11 * MINUTES,
    labels: ofHub,
    summary: 'Hub home/villa has banned the operator, and restarts do not help.',
    silent: { 'a recovery that goes on': [condition('BanRecoveryFailed', '0x100')] },
  },
  {
    alert: 'HubBannedRepeatedly',
    fires: [line('hub_operator_hub_self_unbans', `${pod},hub_namespace="home",hub="villa"`, '4x9 5x9 6x100')],
    after: 20 * MINUTES,
    labels: ofHub,
    summary: 'Hub home/villa was restarted 2 times within 6 hours because it had banned the operator.',
    silent: {
      'one restart': [
        line('hub_operator_hub_self_unbans', `${pod},hub_namespace="home",hub="villa"`, '4x9 5x100'),
      ],
      'many of former days': [
        line('hub_operator_hub_self_unbans', `${pod},hub_namespace="home",hub="villa"`, '40x100'),
      ],
    },
  },
];

/** Evaluates the rules with the series that all cases share, except that of the absent operator. */
const evaluate = (series: readonly Series[], needed: string): Promise<RulesAnswer> =>
  evaluateRules({
    interval: INTERVAL,
    // The operator itself runs, unless the case has its own series for it.
    series: series.some(({ metric }) => metric.startsWith(`hub_operator_build_info{${pod}`))
      ? series
      : [running(), ...series],
    rules: JSON.stringify(ruleFile()),
    end: 3 * HOURS,
  }).then((answer) => ({ ...answer, alerts: answer.alerts.filter(({ name }) => name === needed) }));

describe('alerts', () => {
  test('each alert has a case', () => {
    expect(cases.map(({ alert }) => alert)).toEqual(alerts.map(({ name }) => name));
  });

  test.each(cases)('$alert fires once its time is over', async ({ alert, fires, after, labels, summary }) => {
    const { severity } = alerts.find(({ name }) => name === alert)!;
    const [first] = (await evaluate(fires, alert)).alerts;
    expect(first).toMatchObject({ from: after, labels: { severity, ...labels } });
    // The summary shows the value of the last evaluation, so it is compared with that of an evaluation when
    // the alert begins to fire.
    const early = await evaluateRules({
      interval: INTERVAL,
      series: alert === 'HubOperatorAbsent' ? fires : [running(), ...fires],
      rules: JSON.stringify(ruleFile()),
      end: after,
    });
    expect(early.alerts.find(({ name }) => name === alert)?.annotations['summary']).toBe(summary);
  });

  test.each(
    cases.flatMap(({ alert, silent }) =>
      Object.entries(silent).map(([because, series]) => ({ alert, because, series })),
    ),
  )('$alert does not fire because of $because', async ({ alert, series }) => {
    expect((await evaluate(series, alert)).alerts).toEqual([]);
  });

  // Series of another installation: with the same job, or in another cluster with a Hub of the same name.
  test.each([
    ['HubOperatorNoLeader', 'leader_election_master_status', 'name="hub-operator"', '1x200'],
    ['HubOperatorQueueStuck', 'workqueue_queue_duration_seconds_count', 'controller="HubScene"', '1+9x200'],
    ['HubNotReady', 'hub_operator_hub_condition', 'hub_namespace="home",hub="villa",type="Ready"', '1x200'],
    ['HubUnreachable', 'hub_operator_hub_phase', 'hub_namespace="home",hub="villa",phase="Unknown"', '0x200'],
  ])('%s is not hidden by another installation that works', async (alert, metric, labels, values) => {
    const { fires } = cases.find((each) => each.alert === alert)!;
    const there = 'cluster="b",namespace="hub-operator",job="hub-operator-metrics",instance="10.0.0.5:8080"';
    const other = [
      line('hub_operator_build_info', `${there},version="1.0.0"`, '1x200'),
      line(metric, `${there},${labels}`, values),
    ];
    expect((await evaluate([...fires, ...other], alert)).alerts).toHaveLength(1);
  });

  test('the page that an alert leads to has its heading', async () => {
    const { groups } = ruleFile();
    for (const { annotations } of groups.flatMap(({ rules }) => rules)) {
      const [page = '', anchor] = annotations.runbook.split('#');
      const text = await readFile(join(__dirname, '../../..', page), 'utf8');
      const headings = [...text.matchAll(/^#+ (.*)$/gm)].map(([, heading]) =>
        heading!.toLowerCase().replaceAll(' ', '-'),
      );
      expect(headings).toContain(anchor);
    }
  });
});

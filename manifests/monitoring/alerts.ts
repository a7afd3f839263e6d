/** An alert. docs/reference/alerts.md has a heading with its name. */
export interface Alert {
  readonly name: string;
  /**
   * critical: a household or the operator does not work. warning: a part does not work, or a failure is to be
   * expected.
   */
  readonly severity: 'critical' | 'warning';
  /**
   * The expression filters by labels of the operator's own metrics, since other controllers have metrics with
   * equal names.
   */
  readonly expression: string;
  /** Duration for which the expression must hold, in Prometheus' notation. */
  readonly for: string;
  readonly summary: string;
  /** What happened and what to do, in Prometheus' template language. */
  readonly description: string;
}

/** Filter for the kinds of this operator; the label `controller` has the kind. */
const OURS = 'controller=~"Hub.*"';
/** Labels of one installation. A label that Prometheus does not have counts as empty. */
const INSTALLATION = 'cluster, namespace, job';
const HUB_LABELS = 'cluster, hub_namespace, hub';
/** Filter for the pods of this operator, since other programs have metrics with equal names. */
const OUR_PODS = 'and on (job, instance) hub_operator_build_info';
const HUB = 'Hub {{ $labels.hub_namespace }}/{{ $labels.hub }}';
const NOT_SUSPENDED = `unless on (${HUB_LABELS}) hub_operator_hub_condition{type="Suspended"} == 1`;

const conditions = (types: string): string =>
  `max by (${HUB_LABELS}, type) (hub_operator_hub_condition{type=~"${types}"})`;

export const alerts: readonly Alert[] = [
  {
    name: 'HubOperatorAbsent',
    severity: 'critical',
    expression: 'absent(hub_operator_build_info)',
    for: '5m',
    summary: 'The Hub Operator does not run, or Prometheus does not reach it.',
    description:
      'Changes of resources do not arrive in any hub. Hubs that run go on. Check that the pod of the Deployment hub-operator runs and that its port 8080 can be scraped.',
  },
  {
    name: 'HubOperatorNoLeader',
    severity: 'critical',
    expression: `max by (${INSTALLATION}) (leader_election_master_status ${OUR_PODS}) == 0`,
    for: '5m',
    summary: 'The Hub Operator runs, and no replica is the leader.',
    description:
      'Nothing is reconciled. Check the readiness of the pods, their logs, and the Lease hub-operator in their namespace.',
  },
  {
    name: 'HubOperatorRestarting',
    severity: 'warning',
    expression: `changes(process_start_time_seconds[1h]) > 2 ${OUR_PODS}`,
    for: '0m',
    summary: 'The Hub Operator was restarted {{ $value }} times within an hour.',
    description:
      'Look for the cause in the state of the pod (OOMKilled, failed liveness probe) and at the end of the log of its previous container.',
  },
  {
    name: 'HubOperatorReconcileErrors',
    severity: 'warning',
    expression: `sum by (controller) (increase(controller_runtime_reconcile_errors_total{${OURS}}[30m])) > 0`,
    for: '1h',
    summary: 'Reconciles of {{ $labels.controller }} have been failing for more than an hour.',
    description:
      'A resource that only waits does not count. Resources with the reason ApiServerError or InternalError in their condition Ready have the message; the log has the lines "reconcile failed".',
  },
  {
    name: 'HubOperatorBug',
    severity: 'warning',
    expression: `sum by (controller) (increase(controller_runtime_reconcile_panics_total{${OURS}}[1h])) > 0`,
    for: '0m',
    summary: 'A reconcile of {{ $labels.controller }} failed because of a bug of the operator.',
    description: 'Report it with the lines "reconcile failed" of the log. It is retried.',
  },
  {
    name: 'HubOperatorReconcileStuck',
    severity: 'warning',
    expression: `max by (controller) (workqueue_longest_running_processor_seconds{${OURS}}) > 180`,
    for: '1m',
    summary: 'A reconcile of {{ $labels.controller }} has been running for {{ $value | humanizeDuration }}.',
    description:
      'A reconcile is abandoned after 2 minutes, so this one does not react to that. The liveness probe restarts the pod after 6 minutes. Keep its log and report it.',
  },
  {
    name: 'HubOperatorQueueStuck',
    severity: 'critical',
    expression: `max by (${INSTALLATION}, controller) (workqueue_depth{${OURS}} and on (job, instance) leader_election_master_status == 1) > 0 unless sum by (${INSTALLATION}, controller) (increase(workqueue_queue_duration_seconds_count{${OURS}}[10m])) > 0`,
    for: '10m',
    summary: 'Resources of the kind {{ $labels.controller }} are due, and none is reconciled.',
    description: 'Keep the log of the leader, restart its pod, and report it.',
  },
  {
    name: 'HubOperatorQueueSlow',
    severity: 'warning',
    expression: `histogram_quantile(0.9, sum by (${INSTALLATION}, le) (rate(workqueue_queue_duration_seconds_bucket{${OURS}}[15m]))) > 60`,
    for: '30m',
    summary: 'One of ten resources waits {{ $value | humanizeDuration }} and more for its reconcile.',
    description:
      'A hub that answers slowly delays only its own resources. If all are late, raise WORKERS and the CPU of the operator, or look for a client that changes resources all the time.',
  },
  {
    name: 'HubOperatorWatchFailing',
    severity: 'warning',
    expression: 'sum by (kind) (increase(hub_operator_watch_failures_total[5m])) > 5',
    for: '10m',
    summary: 'The operator cannot watch {{ $labels.kind }}: it does not see changes.',
    description:
      'The log has the lines "watch failed" with the answer of the API server: a missing permission or definition, or a server that does not answer.',
  },
  {
    name: 'HubOperatorMemoryHigh',
    severity: 'warning',
    expression: [
      'process_resident_memory_bytes / (hub_operator_memory_limit_bytes > 0) > 0.9',
      'nodejs_heap_size_used_bytes / hub_operator_heap_limit_bytes > 0.9',
    ].join(' or '),
    for: '15m',
    summary: 'The operator uses {{ $value | humanizePercentage }} of its memory.',
    description:
      'At its limit it is killed and starts again. Raise the memory limit of the Deployment; the limit of the heap is a percentage of it and grows with it.',
  },
  {
    name: 'HubOperatorWebhookCertificateExpiring',
    severity: 'warning',
    expression: '(hub_operator_webhook_certificate_expiry_timestamp_seconds > 0) - time() < 14 * 24 * 3600',
    for: '1h',
    summary: 'The certificate of the webhook ends in {{ $value | humanizeDuration }}.',
    description:
      'It should have been renewed a month before. Read the lines with "certificate" in the log of the leader, or the Certificate if cert-manager makes it. After the end resources are admitted without the checks of the webhook.',
  },
  {
    name: 'HubResourcesStalled',
    severity: 'warning',
    expression: 'max by (kind) (hub_operator_resources{state="stalled"}) > 0',
    for: '30m',
    summary: '{{ $value }} resources of the kind {{ $labels.kind }} are stalled.',
    description:
      'They do not heal by themselves: the spec or the hub must be corrected. kubectl get home -A -o wide shows them with their messages.',
  },
  {
    name: 'HubResourcesNotReady',
    severity: 'warning',
    expression: 'max by (kind) (hub_operator_resources{state="reconciling"}) > 0',
    for: '2h',
    summary: 'Resources of the kind {{ $labels.kind }} have been waiting for 2 hours.',
    description:
      'They wait for something that does not come: a Hub, a Secret, a floor. kubectl get home -A -o wide shows them with their messages.',
  },
  {
    name: 'HubUnreachable',
    severity: 'critical',
    expression: `max by (${HUB_LABELS}) (hub_operator_hub_phase{phase="Unknown"}) == 1 ${NOT_SUSPENDED}`,
    for: '5m',
    summary: `${HUB} does not answer.`,
    description:
      'The pod may run and hang, or the network between operator and hub is interrupted. Read the conditions of the Hub and the log of its pod; for an external hub check the address.',
  },
  {
    name: 'HubNotReady',
    severity: 'critical',
    expression: `max by (${HUB_LABELS}) (hub_operator_hub_condition{type="Ready"}) == 0 ${NOT_SUSPENDED}`,
    for: '15m',
    summary: `${HUB} has not been Ready for 15 minutes.`,
    description: 'The message of its condition Ready says what it waits for or what to do.',
  },
  {
    name: 'HubConditionFailed',
    severity: 'warning',
    expression: `${conditions('StorageReady|BackupConfigured|Exposed|CertManagerAvailable')} == 0 ${NOT_SUSPENDED}`,
    for: '1h',
    summary: `${HUB} has not had the condition {{ $labels.type }} for an hour.`,
    description: 'The hub may run all the same. The message of the condition says what to do.',
  },
  {
    name: 'HubBanRecoveryFailed',
    severity: 'critical',
    expression: `max by (${HUB_LABELS}) (hub_operator_hub_condition{type="BanRecoveryFailed"}) == 1`,
    for: '1m',
    summary: `${HUB} has banned the operator, and restarts do not help.`,
    description:
      'The operator cannot change anything in this hub. Remove the address that the condition BanRecoveryFailed names from ip_bans.yaml on the volume, then delete the pod.',
  },
  {
    name: 'HubBannedRepeatedly',
    severity: 'warning',
    expression: `max by (${HUB_LABELS}) (max_over_time(hub_operator_hub_self_unbans[6h]) - min_over_time(hub_operator_hub_self_unbans[6h])) >= 2`,
    for: '0m',
    summary: `${HUB} was restarted {{ $value }} times within 6 hours because it had banned the operator.`,
    description:
      'Something logs in with wrong credentials from the address of the operator, such as a proxy or a pod that shares it, or the token is rejected again and again. Read the failed logins in the log of the hub.',
  },
];

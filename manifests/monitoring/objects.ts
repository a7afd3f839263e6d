import { ApiObject } from 'cdk8s';
import type { Construct } from 'constructs';
import { OPERATOR_LABELS } from '../../operator/kinds/object-names';
import { OPERATOR } from '../names';
import { type Alert, alerts } from './alerts';
import { dashboard } from './dashboard';

/**
 * The page on which a person who gets an alert continues: a path in this repository, which has no public
 * address.
 */
const RUNBOOKS = 'docs/reference/alerts.md';

/** Interval at which Prometheus scrapes the metrics. */
export const SCRAPE_INTERVAL = '30s';

const metadata = (namespace: string) => ({ name: OPERATOR, namespace, labels: { ...OPERATOR_LABELS } });

/**
 * Makes the Prometheus operator scrape all replicas, including standbys, so that one that hangs is noticed.
 */
export function serviceMonitor(parent: Construct, namespace: string): ApiObject {
  return new ApiObject(parent, 'service-monitor', {
    apiVersion: 'monitoring.coreos.com/v1',
    kind: 'ServiceMonitor',
    metadata: metadata(namespace),
    spec: {
      // The Service of the webhook has the same labels, but no port with this name.
      selector: { matchLabels: { ...OPERATOR_LABELS } },
      endpoints: [{ port: 'metrics', path: '/metrics', interval: SCRAPE_INTERVAL }],
    },
  });
}

export function prometheusRule(parent: Construct, namespace: string): ApiObject {
  return new ApiObject(parent, 'prometheus-rule', {
    apiVersion: 'monitoring.coreos.com/v1',
    kind: 'PrometheusRule',
    metadata: metadata(namespace),
    spec: ruleFile(),
  });
}

/** The dashboard as a ConfigMap with the label by which Grafana's sidecar finds it. */
export function dashboardConfigMap(parent: Construct, namespace: string): ApiObject {
  const { name, labels } = metadata(namespace);
  return new ApiObject(parent, 'dashboard', {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { name: `${name}-dashboard`, namespace, labels: { ...labels, grafana_dashboard: '1' } },
    data: { 'hub-operator.json': dashboardText() },
  });
}

export const dashboardText = (): string => `${JSON.stringify(dashboard(), undefined, 2)}\n`;

/** The content of a Prometheus rule file. */
export function ruleFile() {
  return { groups: [{ name: OPERATOR, rules: alerts.map(rule) }] };
}

function rule({ name, severity, expression, for: hold, summary, description }: Alert) {
  return {
    alert: name,
    expr: expression,
    ...(hold !== '0m' && { for: hold }),
    labels: { severity },
    annotations: { summary, description, runbook: `${RUNBOOKS}#${name.toLowerCase()}` },
  };
}

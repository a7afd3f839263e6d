import { type Alert, alerts } from './alerts';

/**
 * Returns docs/reference/alerts.md without its first line: a heading for each alert, to which the `runbook`
 * of the alert links.
 */
export function alertsPage(): string {
  return [
    '# Alerts',
    'The alerts of `dist/monitoring/prometheus-rule.yaml`. How they are installed: [Monitor the operator and its hubs](../how-to/monitoring.md).',
    ...alerts.flatMap(section),
    '',
  ].join('\n\n');
}

function section({ name, severity, expression, for: hold, summary, description }: Alert): string[] {
  const when = hold === '0m' ? 'at once' : `after ${hold}`;
  return [
    `## ${name}`,
    `${readable(summary)} (${severity}, ${when})`,
    readable(description),
    ['```promql', expression, '```'].join('\n'),
  ];
}

/** Replaces Prometheus' templates by the names of the labels and values. */
const readable = (text: string): string =>
  text.replace(/\{\{ \$labels\.(\w+) \}\}/g, '`$1`').replace(/\{\{ \$value[^}]*\}\}/g, '`value`');

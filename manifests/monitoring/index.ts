import { Chart } from 'cdk8s';
import type { Construct } from 'constructs';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { writeBase } from '../kustomization';
import { installationLabels } from '../names';
import { dashboardConfigMap, dashboardText, prometheusRule, serviceMonitor } from './objects';

/** The objects for the Prometheus operator and Grafana, each in a file of its name. */
const parts = {
  'service-monitor': serviceMonitor,
  'prometheus-rule': prometheusRule,
  dashboard: dashboardConfigMap,
} as const;

/** All objects of the monitoring, for an installation that has them. */
export function addMonitoring(parent: Construct, namespace: string): void {
  for (const add of Object.values(parts)) add(parent, namespace);
}

/**
 * Writes `monitoring/` into the folder of the synth: a file per object, as a cluster may have the definitions of only
 * some, a kustomization of all, and the dashboard as it is imported by hand.
 */
export function writeMonitoring(outdir: string, namespace: string): void {
  const folder = join(outdir, 'monitoring');
  writeBase(folder, (app) =>
    Object.entries(parts).map(([name, add]) => {
      const chart = new Chart(app, name, { labels: installationLabels });
      add(chart, namespace);
      return chart;
    }),
  );
  writeFileSync(join(folder, 'dashboard.json'), dashboardText());
}

import { Chart } from 'cdk8s';
import type { Construct } from 'constructs';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { writeBase } from '../kustomization';
import { installationLabels } from '../names';
import { dashboardConfigMap, dashboardText, prometheusRule, serviceMonitor } from './objects';

/** The objects for the Prometheus operator and Grafana. The key is the name of the file. */
const parts = {
  'service-monitor': serviceMonitor,
  'prometheus-rule': prometheusRule,
  dashboard: dashboardConfigMap,
} as const;

/** Adds all monitoring objects to an installation. */
export function addMonitoring(parent: Construct, namespace: string): void {
  for (const add of Object.values(parts)) add(parent, namespace);
}

/**
 * Writes `monitoring/` into the folder of the synth: a file for each object, since a cluster may have only
 * some of the CRDs; a kustomization of all; and the dashboard for import by hand.
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

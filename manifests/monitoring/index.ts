import { App, Chart } from 'cdk8s';
import type { Construct } from 'constructs';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
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
  const app = new App({ outdir: folder, outputFileExtension: '.yaml' });
  for (const [name, add] of Object.entries(parts))
    add(new Chart(app, name, { labels: installationLabels }), namespace);
  app.synth();
  const resources = Object.keys(parts).map((name) => `  - ${name}.yaml\n`);
  const kustomization = `apiVersion: kustomize.config.k8s.io/v1beta1\nkind: Kustomization\nresources:\n${resources.join('')}`;
  writeFileSync(join(folder, 'kustomization.yaml'), kustomization);
  writeFileSync(join(folder, 'dashboard.json'), dashboardText());
}

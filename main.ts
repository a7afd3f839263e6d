import { join } from 'node:path';
import { App, Chart } from 'cdk8s';
import { WatchedNamespace } from './manifests/access';
import { writeChart } from './manifests/chart';
import { writeArgoSettings } from './manifests/argocd';
import { CustomResourceDefinitions } from './manifests/crds';
import { Installation } from './manifests/installation';
import { writeJsonSchemas } from './manifests/json-schemas';
import { writeMonitoring } from './manifests/monitoring';
import { installationLabels } from './manifests/names';
import { writeBase, writeKustomization } from './manifests/kustomization';
import { namespaced, readSynthSettings } from './manifests/settings';

const app = new App({ outputFileExtension: '.yaml' });
const settings = readSynthSettings(process.env);
new CustomResourceDefinitions(new Chart(app, 'crds', { labels: installationLabels }));
new Installation(app, 'install', settings);
app.synth();
writeKustomization(app.outdir, ['install.yaml'], settings.webhook !== undefined);
writeBase(join(app.outdir, 'namespaced'), (base) => [
  new Installation(base, 'install', namespaced(settings)),
]);
writeBase(
  join(app.outdir, 'watched-namespace'),
  (base) => [new WatchedNamespace(base, settings.namespace)],
  'Apply with --namespace, or the operator gets the Secrets of the namespace `default`.',
);
writeChart(join(app.outdir, 'chart'), settings);
writeMonitoring(app.outdir, settings.namespace);
writeArgoSettings(app.outdir);
writeJsonSchemas(join(app.outdir, 'schemas'));

import { App, Chart } from 'cdk8s';
import { WatchedNamespace } from './manifests/access';
import { CustomResourceDefinitions } from './manifests/crds';
import { Installation } from './manifests/installation';
import { installationLabels } from './manifests/names';
import { namespaced, readSynthSettings } from './manifests/settings';

const app = new App({ outputFileExtension: '.yaml' });
const settings = readSynthSettings(process.env);
new CustomResourceDefinitions(new Chart(app, 'crds', { labels: installationLabels }));
new Installation(app, 'install', settings);
new Installation(app, 'install-namespaced', namespaced(settings));
new WatchedNamespace(app, settings.namespace);
app.synth();

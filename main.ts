import { App, Chart } from 'cdk8s';
import { WatchedNamespace } from './manifests/access';
import { CustomResourceDefinitions } from './manifests/crds';
import { Installation } from './manifests/installation';
import { namespaced, readSynthSettings } from './manifests/settings';

const app = new App({ outputFileExtension: '.yaml' });
const settings = readSynthSettings(process.env);
new CustomResourceDefinitions(new Chart(app, 'crds'));
new Installation(app, 'install', settings);
new Installation(app, 'install-namespaced', namespaced(settings));
new WatchedNamespace(app);
app.synth();

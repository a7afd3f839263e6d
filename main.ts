import { App } from 'cdk8s';
import { WatchedNamespace } from './manifests/access';
import { CustomResourceDefinitions } from './manifests/crds';
import { Operator } from './manifests/operator';
import { version } from './package.json';

const app = new App();
const image = process.env['IMAGE'] ?? `ghcr.io/hub-operator/hub-operator:${version}`;
new CustomResourceDefinitions(app);
new Operator(app, { image, scope: 'cluster' });
new Operator(app, { image, scope: 'namespaced' });
new WatchedNamespace(app);
app.synth();

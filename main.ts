import { App } from 'cdk8s';
import { CustomResourceDefinitions } from './manifests/crds';
import { Operator } from './manifests/operator';
import { version } from './package.json';

const app = new App();
new CustomResourceDefinitions(app);
new Operator(app, { image: process.env['IMAGE'] ?? `ghcr.io/hub-operator/hub-operator:${version}` });
app.synth();

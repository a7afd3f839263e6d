import { Yaml } from 'cdk8s';

/** `dist/kustomization.yaml`, for `kubectl apply -k dist` and as a base of overlays: the same as `install.yaml`. */
export const kustomization = Yaml.stringify({
  apiVersion: 'kustomize.config.k8s.io/v1beta1',
  kind: 'Kustomization',
  resources: ['install.yaml'],
});

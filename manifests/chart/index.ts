import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { App, Chart, Yaml } from 'cdk8s';
import { version } from '../../package.json';
import { WatchedNamespace } from '../access';
import { CustomResourceDefinitions } from '../crds';
import { Installation } from '../installation';
import { installationLabels, OPERATOR } from '../names';
import type { SynthSettings } from '../settings';
import { helpers, notes } from './helpers';
import { merge } from './merge';
import { conditionOf, installations } from './switches';
import { Template } from './template';
import { chartValues } from './values';
import { valuesSchema, valuesYaml } from './values-yaml';
import { withPodValues } from './pod';
import { withAggregationValue } from './roles';

interface Manifest {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: { readonly name: string; readonly [field: string]: unknown };
}

/**
 * Writes the Helm chart into a folder, from the objects that `dist/install.yaml` consists of: they are synthesized once
 * for each way in which installations differ, with tokens where a value of the chart stands.
 */
export function writeChart(folder: string, settings: SynthSettings): void {
  for (const [path, text] of Object.entries(chartFiles(settings))) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), text);
  }
}

/** The files of the chart by their paths in it. */
export function chartFiles(settings: SynthSettings): Readonly<Record<string, string>> {
  const values = chartValues(settings);
  return {
    'Chart.yaml': Yaml.stringify({
      apiVersion: 'v2',
      name: OPERATOR,
      description: 'Runs Home Assistant and everything inside it from Kubernetes custom resources',
      type: 'application',
      version,
      appVersion: version,
      kubeVersion: '>=1.32.0-0',
    }),
    'values.yaml': valuesYaml(values),
    'values.schema.json': `${JSON.stringify(valuesSchema(values), null, 2)}\n`,
    'files/crds.yaml': Yaml.stringify(...definitions()),
    'templates/_helpers.tpl': helpers,
    'templates/NOTES.txt': notes,
    // A file of its own, since descriptions of fields have braces. Not the folder crds/, which Helm never upgrades.
    'templates/crds.yaml':
      '{{- if $.Values.crds.install }}\n{{ $.Files.Get "files/crds.yaml" }}\n{{- end }}\n',
    'templates/operator.yaml': operatorTemplate(settings),
    'templates/watched-namespaces.yaml': watchedNamespacesTemplate(),
  };
}

/** Kept at `helm uninstall`: with a CRD all its resources go, and with Hubs their volumes. */
function definitions(): object[] {
  const chart = new Chart(new App(), 'crds', { labels: installationLabels });
  new CustomResourceDefinitions(chart);
  return manifestsOf(chart).map((definition) => ({
    ...definition,
    metadata: { ...definition.metadata, annotations: { 'helm.sh/resource-policy': 'keep' } },
  }));
}

function operatorTemplate(settings: SynthSettings): string {
  const template = new Template();
  const marked: SynthSettings = {
    ...settings,
    namespace: template.string('$.Release.Namespace'),
    image: template.string('include "hub-operator.image" $'),
    watchNamespaces: [template.string('join "," $.Values.watchNamespaces')],
  };
  const all = installations(marked);
  const objects = new Map<string, Map<SynthSettings, Manifest>>();
  for (const each of all)
    for (const manifest of manifestsOf(new Installation(new App(), 'chart', each))) {
      // The release's namespace exists before Helm installs something; definitions have a file of their own.
      if (manifest.kind === 'Namespace' || manifest.kind === 'CustomResourceDefinition') continue;
      const key = [manifest.apiVersion, manifest.kind, manifest.metadata.name].join(' ');
      objects.set(key, (objects.get(key) ?? new Map<SynthSettings, Manifest>()).set(each, manifest));
    }
  return [...objects.values()]
    .map((variants) => {
      const object = merge(template, variants) as Manifest;
      const text = template.render(
        object.kind === 'Deployment'
          ? withPodValues(template, object)
          : withAggregationValue(template, object),
      );
      const condition = conditionOf(new Set(variants.keys()), new Set(all));
      return condition === '' ? `---\n${text}\n` : `{{- if ${condition} }}\n---\n${text}\n{{- end }}\n`;
    })
    .map(withRelease)
    .join('');
}

function watchedNamespacesTemplate(): string {
  const template = new Template();
  const namespace = template.string('$.Release.Namespace');
  const documents = manifestsOf(new WatchedNamespace(new App(), namespace)).map((manifest) => {
    const metadata = { ...manifest.metadata, namespace: template.string('.') };
    return `---\n${template.render({ ...manifest, metadata })}\n`;
  });
  return withRelease(`{{- range $.Values.watchNamespaces }}\n${documents.join('')}{{- end }}\n`);
}

/** The release is the instance. */
function withRelease(text: string): string {
  return text.replaceAll(
    `app.kubernetes.io/instance: ${OPERATOR}`,
    'app.kubernetes.io/instance: {{ $.Release.Name | quote }}',
  );
}

function manifestsOf(chart: Chart): Manifest[] {
  return chart.toJson() as Manifest[];
}

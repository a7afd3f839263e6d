import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { App, Chart, Yaml } from 'cdk8s';
import { kinds } from '../../operator/kinds';
import { API_GROUP, API_VERSION } from '../../operator/kinds/group';
import { version } from '../../package.json';
import { clusterRules, leaderRules, operatorRules, policyRule, rolesOfPeople } from '../access';
import { admissionPolicySpec } from '../admission-policy';
import { CustomResourceDefinitions } from '../crds';
import { dashboardText, ruleFile } from '../monitoring/objects';
import { installationLabels, OPERATOR } from '../names';
import type { SynthSettings } from '../settings';
import { webhookRegistration } from '../webhook';
import { chartReadme } from './reference';
import { chartValues } from './values';
import { valuesSchema, valuesYaml } from './values-yaml';

/**
 * The templates are written by hand. Long parts that are equal in `dist/install.yaml` come from generated
 * files.
 */
const TEMPLATES = join(__dirname, 'templates');

/** Writes the Helm chart into a folder. */
export function writeChart(folder: string, settings: SynthSettings): void {
  for (const [path, text] of Object.entries(chartFiles(settings))) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), text);
  }
}

/** The files of the chart by their paths in it. */
function chartFiles(settings: SynthSettings): Readonly<Record<string, string>> {
  const values = chartValues(settings);
  const templates = readdirSync(TEMPLATES, { recursive: true, encoding: 'utf8' })
    .filter((path) => /\.\w+$/.test(path))
    .sort();
  return {
    'Chart.yaml': Yaml.stringify(chartMetadata()),
    'README.md': chartReadme(values),
    'values.yaml': valuesYaml(values),
    'values.schema.json': `${JSON.stringify(valuesSchema(values), null, 2)}\n`,
    'files/crds.yaml': Yaml.stringify(...definitions()),
    'files/operator-rules.yaml': Yaml.stringify(operatorRules().map(policyRule)),
    'files/cluster-rules.yaml': Yaml.stringify(clusterRules().map(policyRule)),
    'files/leader-rules.yaml': Yaml.stringify(leaderRules.map(policyRule)),
    'files/roles-of-people.yaml': Yaml.stringify(rolesOfPeople),
    'files/admission-policy.yaml': Yaml.stringify(admissionPolicySpec()),
    'files/webhook.yaml': Yaml.stringify(webhookRegistration()),
    'files/alerts.yaml': Yaml.stringify(ruleFile()),
    'files/dashboard.json': dashboardText(),
    ...Object.fromEntries(
      templates.map((path) => [`templates/${path}`, readFileSync(join(TEMPLATES, path), 'utf8')]),
    ),
  };
}

/**
 * A house with a dot. The icon is inline, because a URL would have to be served for as long as the chart is
 * used.
 */
const ICON =
  '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 64 64"><path fill="#03a9f4" d="M32 6 4 32h8v26h40V32h8z"/><circle cx="32" cy="38" r="9" fill="#fff"/></svg>';

function chartMetadata(): object {
  return {
    apiVersion: 'v2',
    name: OPERATOR,
    description: 'Runs Home Assistant and everything inside it from Kubernetes custom resources',
    type: 'application',
    version,
    appVersion: version,
    kubeVersion: '>=1.32.0-0',
    icon: `data:image/svg+xml;base64,${Buffer.from(ICON).toString('base64')}`,
    keywords: ['home-assistant', 'home-automation', 'operator'],
    annotations: {
      'artifacthub.io/category': 'integration-delivery',
      'artifacthub.io/license': 'Apache-2.0',
      'artifacthub.io/operator': 'true',
      'artifacthub.io/crds': Yaml.stringify(
        kinds.map(({ kind, plural, description }) => ({
          kind,
          version: API_VERSION,
          name: `${plural}.${API_GROUP}`,
          displayName: kind,
          description,
        })),
      ),
    },
  };
}

/**
 * The CRDs are kept at `helm uninstall`: with a CRD all its resources would be deleted, and with Hubs their
 * volumes.
 */
function definitions(): object[] {
  const chart = new Chart(new App(), 'crds', { labels: installationLabels });
  new CustomResourceDefinitions(chart);
  return (chart.toJson() as { readonly metadata: object }[]).map((definition) => ({
    ...definition,
    metadata: { ...definition.metadata, annotations: { 'helm.sh/resource-policy': 'keep' } },
  }));
}

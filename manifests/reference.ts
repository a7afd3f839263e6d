import { readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { commandsPage } from '../cli/reference';
import { testFilePage } from '../cli/test/file/reference';
import { kinds } from '../operator/kinds';
import { userAnnotationMeanings, userAnnotations } from '../operator/kinds/annotations';
import { columnsOf } from '../operator/kinds/columns';
import { API_GROUP, GROUP_VERSION } from '../operator/kinds/group';
import type { KindDefinition } from '../operator/kinds/kind';
import {
  type ConditionDescription,
  type Documented,
  eventReasons,
  type Kinds,
  otherConditions,
  readyReasons,
} from '../operator/kinds/reasons';
import type { Schema } from '../operator/kinds/schema';
import { observeMemoryLimits } from '../operator/process/memory-metrics';
import { Metrics } from '../operator/process/metrics';
import { observeResources } from '../operator/process/resource-metrics';
import { settingsTable } from '../operator/process/settings';
import { valuesTable } from './chart/reference';
import { alertsPage } from './monitoring/alerts-page';

/**
 * `make synth` runs this beside the manifests: writes the pages of docs/reference that are generated from the
 * sources, and the API group in the samples.
 */
async function main(folder: string): Promise<void> {
  const samples = await readSamples(join(folder, 'samples'));
  await writeFile(join(folder, 'docs/reference/kinds.md'), kindsPage(samples));
  await writeFile(join(folder, 'docs/reference/conditions.md'), conditionsPage());
  await writeFile(join(folder, 'docs/reference/settings.md'), settingsPage());
  await writeFile(join(folder, 'docs/reference/metrics.md'), await metricsPage());
  await writeFile(join(folder, 'docs/reference/helm-values.md'), helmValuesPage());
  await writeFile(join(folder, 'docs/reference/commands.md'), `${generated}${await commandsPage()}\n`);
  await writeFile(join(folder, 'docs/reference/test-files.md'), `${generated}${testFilePage()}\n`);
  await writeFile(join(folder, 'docs/reference/alerts.md'), `${generated}${alertsPage()}`);
  for (const [file, text] of samples) await writeFile(join(folder, 'samples', file), renamed(text));
}

async function readSamples(folder: string): Promise<ReadonlyMap<string, string>> {
  const files = (await readdir(folder)).filter((file) => file.endsWith('.yaml')).sort();
  return new Map(
    await Promise.all(files.map(async (file) => [file, await readFile(join(folder, file), 'utf8')] as const)),
  );
}

const generated = '<!-- Written by `make synth` from the sources; change those. -->\n\n';

function kindsPage(samples: ReadonlyMap<string, string>): string {
  const rows = kinds.map(
    ({ kind, plural, shortNames, description }) =>
      `| [${kind}](#${kind.toLowerCase()}) | \`${plural}\` | ${shortNames.map((name) => `\`${name}\``).join(', ')} | ${sentence(description)} |`,
  );
  return [
    `${generated}# Kinds`,
    `All kinds are of the group \`${API_GROUP}\` and namespaced; \`kubectl get home\` lists the resources of all. The same text, with every field: \`kubectl explain hub.spec --recursive\`.`,
    ['| Kind | Resource | Short | What it is |', '|---|---|---|---|', ...rows].join('\n'),
    ...kinds.map((kind) => kindSection(kind, exampleOf(kind.kind, samples))),
  ].join('\n\n');
}

/** Returns the first resource of a kind in the samples. */
function exampleOf(kind: string, samples: ReadonlyMap<string, string>): string {
  const documents = [...samples.values()].flatMap((text) => text.split(/^---\n/m));
  const example = documents.find((text) => text.includes(`\nkind: ${kind}\n`));
  return example
    ? [
        '```yaml',
        renamed(example)
          .replace(/^#.*\n/gm, '')
          .trim(),
        '```',
      ].join('\n')
    : '';
}

function kindSection(definition: KindDefinition, example: string): string {
  const { kind, description, spec, status } = definition;
  const columns = columnsOf(definition).map(
    ({ name, wide }) => `${name.toUpperCase()}${wide ? ' (wide)' : ''}`,
  );
  return [
    `## ${kind}`,
    description,
    example,
    `\`kubectl get\` shows: NAME, ${columns.join(', ')}.`,
    ...fieldTables('spec', spec),
    ...fieldTables('status', status),
  ]
    .filter((part) => part !== '')
    .join('\n\n');
}

/** Returns a table of the fields of a block, followed by one for each block inside it. */
function fieldTables(path: string, schema: Schema): string[] {
  const fields = Object.entries(schema.properties ?? {});
  if (fields.length === 0) return [];
  const rows = fields.map(([name, field]) => [
    code(name),
    typeOf(field),
    `${field.description ?? ''}${schema.required?.includes(name) ? ' **Required.**' : ''}`,
  ]);
  const inner = fields.flatMap(([name, field]) => {
    // The fields of a condition are those of Kubernetes and are left out.
    if (name === 'conditions' && field.items?.properties?.['lastTransitionTime']) return [];
    if (field.additionalProperties) return fieldTables(`${path}.${name}.<name>`, field.additionalProperties);
    return field.items
      ? fieldTables(`${path}.${name}[]`, field.items)
      : fieldTables(`${path}.${name}`, field);
  });
  return [table([code(path), 'Type', 'Meaning'], rows), ...inner];
}

function typeOf({ type, enum: choices, items, additionalProperties }: Schema): string {
  if (choices) return choices.map((choice) => `\`${choice}\``).join(' | ');
  if (items) return `list of ${typeOf(items)}`;
  if (additionalProperties) return `map of ${typeOf(additionalProperties)}`;
  return type ?? 'string or integer';
}

function conditionsPage(): string {
  return [
    `${generated}# Conditions, events and annotations`,
    'Conditions follow [kstatus](https://github.com/kubernetes-sigs/cli-utils/tree/master/pkg/kstatus), so that `kubectl wait`, Flux and Argo CD understand them. `Ready` is always present. `Reconciling` (something is in progress or waited for) and `Stalled` (only you or the hub can help) are present only while they are True, with the reason of `Ready`.',
    '## Reasons of `Ready`',
    table(['Reason', 'Kinds', 'Meaning', 'What to do'], Object.entries(readyReasons).map(reasonRow)),
    '## Other conditions',
    ...otherConditionTables(),
    '## Events',
    'Each change of `Ready` is also an event with its reason: Normal when the resource became Ready, else Warning. Further events:',
    table(
      ['Event', 'Type', 'Kinds', 'Meaning', 'What to do'],
      Object.entries(eventReasons).map(([reason, event]) => {
        const [name, kinds, meaning, action] = reasonRow([reason, event]);
        return [name!, event.type, kinds!, meaning!, action!];
      }),
    ),
    '## Annotations',
    'You may set these annotations on a resource:',
    table(
      ['Annotation', 'Kinds', 'Meaning'],
      (Object.keys(userAnnotations) as (keyof typeof userAnnotations)[]).map((name) => {
        const { value, kinds, meaning } = userAnnotationMeanings[name];
        return [code(`${userAnnotations[name]}: ${value}`), kindsOf(kinds), meaning];
      }),
    ),
    '',
  ].join('\n\n');
}

/** A table of the conditions other than `Ready`, and one of their reasons. */
const otherConditionTables = (): readonly string[] => [
  table(
    ['Condition', 'Kinds', 'Meaning'],
    Object.entries(otherConditions).map(([type, { kinds, meaning }]) => [
      code(type),
      kindsOf(kinds),
      meaning,
    ]),
  ),
  table(
    ['Condition', 'Reason', 'Meaning', 'What to do'],
    Object.entries(otherConditions).flatMap(([type, { reasons }]: [string, ConditionDescription]) =>
      Object.entries(reasons).map(([reason, { meaning, action = '' }]) => [
        code(type),
        code(reason),
        meaning,
        action,
      ]),
    ),
  ),
];

function reasonRow([reason, { kinds, meaning, action = '' }]: readonly [string, Documented]): string[] {
  return [code(reason), kindsOf(kinds), meaning, action];
}

const kindsOf = (names: Kinds): string => (typeof names === 'string' ? names : names.join(', '));
const code = (text: string): string => `\`${text}\``;

function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const lines = rows.map((row) => `| ${row.map(cell).join(' | ')} |`);
  return [`| ${head.join(' | ')} |`, `|${'---|'.repeat(head.length)}`, ...lines].join('\n');
}

function settingsPage(): string {
  const rows = settingsTable().map(
    ({ flag, env, default: fallback, about }) =>
      `| \`${flag}\` | \`${env}\` | ${env === 'POD_NAME' ? 'host name' : fallback && `\`${fallback}\``} | ${cell(about)} |`,
  );
  return [
    `${generated}# Settings of the operator`,
    'Each is a flag or an environment variable of the operator’s container; the flag wins.',
    'A setting that is not known, or a value that is not accepted, is refused by name at the start.',
    ['| Flag | Environment | Default | |', '|---|---|---|---|', ...rows, ''].join('\n'),
  ].join('\n\n');
}

function helmValuesPage(): string {
  return [
    `${generated}# Values of the Helm chart`,
    'The chart is [dist/chart](../../dist/chart). With its default values `helm template` makes the objects of `dist/install.yaml`, except for the namespace.',
    'Helm expects the namespace to exist. `--create-namespace` makes it, without the labels of Pod Security.',
    'A value that is misspelled or of another type is refused by its name.',
    valuesTable(),
    '## CRDs',
    'The CRDs are templates of the chart, not files in `crds/`, which Helm installs once and never upgrades: `helm upgrade` upgrades them.',
    'Their annotation `helm.sh/resource-policy: keep` has `helm uninstall` keep them: all resources of a kind go with its CRD, and the volumes of hubs with them.',
    'A new release of the same name in the same namespace takes them over; for another name or namespace, add `--take-ownership`.',
    '## Several releases',
    'Two operators of one cluster work side by side when each has namespaces of its own: two releases in two namespaces, each with its `watchNamespaces`, and all but one with `crds.install: false`.',
    'The objects are named after the release, so that those of the cluster do not collide.',
    'One namespace has one release: hubs admit the pods of their operator by a label, which is the same for all releases.',
    '## OpenShift',
    'The chart sets no user, so that the default `restricted-v2` admits the operator.',
    'The image of Home Assistant starts as root: the ServiceAccount of the hubs, `default` of their namespace, needs `anyuid`.',
    '',
  ].join('\n\n');
}

async function metricsPage(): Promise<string> {
  const source = new Metrics('');
  source.observeQueue({ depthByKind: () => new Map(), agesByKind: () => new Map() }, 0);
  source.observeCache(() => new Map());
  observeMemoryLimits(source);
  observeResources(source, [], () => []);
  const metrics = await source.registry.getMetricsAsJSON();
  const rows = metrics
    .filter(({ name }) => !/^(process|nodejs)_/.test(name))
    .map(({ name, help, type }) => `| \`${name}\` | ${String(type)} | ${cell(help)} |`)
    .sort();
  return [
    `${generated}# Metrics of the operator`,
    '`/metrics` on port 8080, in Prometheus’ format. Names and labels are those of controller-runtime where it has one, so that its dashboards and alerts work. The operator’s own begin with `hub_operator_`.',
    'A reconcile that waits for something counts as `requeue_after`, never as an error. There are also the usual `process_*` and `nodejs_*`.',
    ['| Metric | Type | |', '|---|---|---|', ...rows, ''].join('\n'),
  ].join('\n\n');
}

const cell = (text: string): string => text.replaceAll('|', '\\|').replaceAll('\n', ' ');
const sentence = (text: string): string => cell(text.replace(/^\w+ is /, '').split('. ')[0]!);

/** Updates the `apiVersion` of resources of our kinds in a sample, from any version. */
function renamed(sample: string): string {
  return kinds.reduce(
    (text, { kind }) =>
      text.replace(
        new RegExp(`^apiVersion: .*\nkind: ${kind}$`, 'gm'),
        `apiVersion: ${GROUP_VERSION}\nkind: ${kind}`,
      ),
    sample,
  );
}

main(process.argv[2] ?? join(__dirname, '..')).catch((error: unknown) => {
  console.error(error);
  process.exit(1);
});

import { defaultSettings } from '../settings';
import { chartValues, type Value } from './values';
import { withoutLinks } from './values-yaml';

/** Returns `docs/reference/helm-values.md` without its title. */
export const valuesTable = (): string => table(chartValues(defaultSettings));

/** Returns `README.md` of the chart, which registries show. Relative links do not work there. */
export function chartReadme(values: readonly Value[]): string {
  return [
    '<!-- Written by `make synth` from manifests/chart; change that. -->',
    '# Hub Operator',
    'Runs Home Assistant and everything inside it from Kubernetes custom resources.',
    [
      '```console',
      '$ helm install hub-operator . --namespace hub-operator --create-namespace --set image.repository=REGISTRY/hub-operator',
      '$ helm test hub-operator --namespace hub-operator',
      '```',
    ].join('\n'),
    '`helm uninstall` keeps the CRDs, and so every Hub with its volume.',
    '## Values',
    withoutLinks(table(values)),
  ].join('\n\n');
}

function table(values: readonly Value[]): string {
  const rows = values.map(
    ({ path, default: value, about }) =>
      `| \`${path}\` | \`${JSON.stringify(value)}\` | ${about.replaceAll('|', '\\|')} |`,
  );
  return ['| Value | Default | Meaning |', '|---|---|---|', ...rows, ''].join('\n');
}

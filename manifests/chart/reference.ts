import { defaultSettings } from '../settings';
import { chartValues } from './values';

/** `docs/reference/helm-values.md`, after its title. */
export function valuesTable(): string {
  const rows = chartValues(defaultSettings).map(
    ({ path, default: value, about }) => `| \`${path}\` | \`${JSON.stringify(value)}\` | ${about} |`,
  );
  return ['| Value | Default | Meaning |', '|---|---|---|', ...rows, ''].join('\n');
}

import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { load } from 'js-yaml';
import { evaluateRules } from '../../../sandbox/checks';
import { repository } from '../../unit/repository/sources';

// The checks of `promtool check rules`: Prometheus parses the file, including names, labels and templates,
// and no rule occurs twice. promtool itself takes long to build, because it contains the clients of all
// service discoveries and clouds.

interface Rule {
  readonly alert: string;
  readonly expr: string;
  readonly labels: Readonly<Record<string, string>>;
}
interface RuleFile {
  readonly groups: readonly { readonly name: string; readonly rules: readonly Rule[] }[];
}

let shipped: RuleFile;
beforeAll(async () => {
  const text = await readFile(join(repository, 'dist', 'monitoring', 'prometheus-rule.yaml'), 'utf8');
  shipped = (load(text) as { spec: RuleFile }).spec;
});

const check = (file: RuleFile) =>
  evaluateRules({ interval: 60, series: [], rules: JSON.stringify(file), end: 0 });

describe('dist/monitoring/prometheus-rule.yaml', () => {
  test('is a file of rules that Prometheus accepts', async () => {
    const { expressions } = await check(shipped);
    expect(expressions.length).toBeGreaterThan(10);
  });

  test('would not be accepted with an expression, a label or a group that is wrong', async () => {
    const [group] = shipped.groups;
    const [rule] = group!.rules;
    const faulty = (change: Partial<Rule> & { readonly for?: string }) => ({
      groups: [{ ...group!, rules: [{ ...rule!, ...change }] }],
    });
    for (const file of [
      faulty({ expr: 'sum by (' }),
      faulty({ for: 'soon' }),
      faulty({ labels: { severity: '{{ $labels.' } }),
      { groups: [group!, group!] },
    ])
      await expect(check(file)).rejects.toThrow();
  });

  test('has no rule twice', () => {
    const rules = shipped.groups.flatMap((group) => group.rules);
    const keys = rules.map(({ alert, labels }) => JSON.stringify([alert, labels]));
    expect(new Set(keys).size).toBe(rules.length);
  });
});

import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { load } from 'js-yaml';
import { kubeScore, type ScoreFinding } from '../../../sandbox/checks';
import { repository } from '../repository/sources';

// Checks dist/ with a third-party linter, which users may run over the files that they install.

/**
 * The chart is left out: its files are templates, and its objects are compared with those of
 * dist/install.yaml.
 */
const isLinted = (name: string) =>
  name.endsWith('.yaml') && !/^chart\/|kustomization|name-references|dashboard/.test(name);

let manifests: readonly string[];
let findings: readonly ScoreFinding[];
let accepted: Readonly<Record<string, string>>;

beforeAll(async () => {
  const dist = join(repository, 'dist');
  manifests = (await readdir(dist, { recursive: true })).filter(isLinted);
  findings = await kubeScore(manifests.map((name) => join(dist, name)));
  const text = await readFile(join(repository, 'manifests', 'kube-score.yaml'), 'utf8');
  accepted = load(text) as typeof accepted;
});

describe('dist in kube-score', () => {
  test('has no critical finding and no warning, except those with a reason in manifests/kube-score.yaml', () => {
    expect(manifests.length).toBeGreaterThan(5);
    expect(findings.filter(({ check }) => !(check in accepted))).toEqual([]);
  });

  test('has a finding for each reason', () => {
    const found = new Set(findings.map(({ check }) => check));
    expect(Object.keys(accepted).filter((check) => !found.has(check))).toEqual([]);
  });
});

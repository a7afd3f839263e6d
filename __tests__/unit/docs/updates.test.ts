import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { documentedYaml } from '../../integration/docs/documented-commands';
import { repository } from '../repository/sources';

// The page about updates has patterns for Flux and Renovate, which do not run here.

const PAGE = 'docs/how-to/update-home-assistant.md';
const releases = ['2026.11.0', '2026.1.12'];
const others = ['2026.11.0b3', '2026.11', 'stable', 'dev', '2026.11.0.dev202611010311', 'sha256:0'];

const [, json] = /^```json\n([^]*?)^```/m.exec(readFileSync(join(repository, PAGE), 'utf8'))!;
const renovate = JSON.parse(json!) as {
  readonly customManagers: readonly {
    readonly managerFilePatterns: string[];
    readonly matchStrings: string[];
  }[];
  readonly packageRules: readonly { readonly allowedVersions: string }[];
};
const inner = (pattern: string) => new RegExp(pattern.replace(/^\/(.*)\/$/, '$1'));

test.each([
  ['Flux', /pattern: '(.*)'/.exec(documentedYaml(PAGE, 'filterTags'))![1]!],
  ['Renovate', renovate.packageRules[0]!.allowedVersions],
])('the pattern of %s matches only releases', (_, pattern) => {
  const accepts = (tag: string) => inner(pattern).test(tag);
  expect(releases.filter(accepts)).toEqual(releases);
  expect(others.filter(accepts)).toEqual([]);
});

test('Renovate finds the version in the file of the page, and the file', () => {
  const [manager] = renovate.customManagers;
  const hub = documentedYaml(PAGE, '# renovate:');
  expect(new RegExp(manager!.matchStrings[0]!).exec(hub)?.groups).toEqual({ currentValue: '2026.11.0' });
  expect(inner(manager!.managerFilePatterns[0]!).test('home/hub.yaml')).toBe(true);
});

test('the marker of Flux names the policy of the page', () => {
  const policy = documentedYaml(PAGE, 'ImagePolicy');
  expect(documentedYaml(PAGE, '$imagepolicy')).toContain('"flux-system:home-assistant:tag"');
  expect(policy).toContain('kind: ImagePolicy\nmetadata: { name: home-assistant, namespace: flux-system }');
});

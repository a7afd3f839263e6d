import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

const repository = join(__dirname, '..', '..');
const sources = ['runtime', 'sync', 'client'].flatMap((folder) => {
  const root = join(repository, 'operator', folder);
  const files = readdirSync(root, { recursive: true, encoding: 'utf8' }).filter((name) =>
    name.endsWith('.ts'),
  );
  return files.map((file) => readFileSync(join(root, file), 'utf8'));
});

/** Reasons stand in the sources as the first word of an outcome, or under that name in a condition or an event. */
const patterns = [
  /\b(?:ready|waiting|stalled|pending)\(\s*(?:work, )?'([A-Z]\w+)'/g,
  /\breason: (?:[^',}\n]+\? )?'([A-Z]\w+)'/g,
];
const reasons = new Set(
  sources.flatMap((text) =>
    patterns.flatMap((pattern) => [...text.matchAll(pattern)].map(([, name]) => name!)),
  ),
);
const page = readFileSync(join(repository, 'docs/reference/conditions.md'), 'utf8');

test('every reason of a condition or an event is explained in the reference', () => {
  expect(reasons.size).toBeGreaterThan(45);
  expect([...reasons].filter((reason) => !page.includes(`\`${reason}\``))).toEqual([]);
});

test('the reference explains no reason that there is not', () => {
  const rows = page.split('\n').filter((line) => line.startsWith('| `'));
  const explained = rows.flatMap((row) => row.match(/`[A-Z]\w+`/g) ?? []).map((name) => name.slice(1, -1));
  expect(explained.length).toBeGreaterThan(45);
  expect(explained.filter((name) => !sources.some((text) => text.includes(`'${name}'`)))).toEqual([]);
});

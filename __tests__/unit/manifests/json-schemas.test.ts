import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join, relative, resolve } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { dump } from 'js-yaml';
import { getLanguageService, TextDocument } from 'yaml-language-server';
import { kinds } from '../../../operator/kinds';
import { API_GROUP } from '../../../operator/kinds/group';
import { kubeconform } from '../../../sandbox/checks';
import { repository, sourceFiles } from '../repository/sources';
import { externalHub, fullSample, type Sample } from '../../schema/full';
import { changed } from '../../schema/places';

// dist/schemas, as used by kubeconform in a pipeline and by the YAML language server in an editor.

const LOCATION = 'dist/schemas/{{.Group}}/{{.ResourceKind}}_{{.ResourceAPIVersion}}.json';
const samples = [...sourceFiles('samples')].filter(
  ([name, text]) => name.endsWith('.yaml') && text.includes(`\napiVersion: ${API_GROUP}/`),
);
const whole = samples.filter(([name]) => !name.startsWith('samples/fleet/'));

let folder: string;
beforeAll(async () => void (folder = await mkdtemp(join(tmpdir(), 'schemas-'))));
afterAll(() => rm(folder, { recursive: true, force: true }));

async function checked(resources: readonly object[]) {
  const file = join(folder, 'resources.yaml');
  await writeFile(file, resources.map((each) => dump(each)).join('---\n'));
  return kubeconform(join(repository, LOCATION), [file]);
}

/** Resources that the API server refuses or warns of, by cause. */
const wrong: readonly (readonly [string, Sample])[] = [
  ['a field that does not exist', changed(fullSample('HubAutomation'), { 'spec.trigers': [] })],
  ['a value that is none of the choices', changed(fullSample('HubAutomation'), { 'spec.mode': 'fast' })],
  ['a required field that is absent', changed(fullSample('HubScene'), { 'spec.hubRef': undefined })],
  [
    'a number instead of a text',
    changed(fullSample('HubIntegration'), { 'spec.configuration': { port: { value: 1883 } } }),
  ],
  ['a pattern that does not fit', changed(fullSample('Hub'), { 'spec.backup.time': '25:00:00' })],
];

describe('dist/schemas in kubeconform', () => {
  test('has a schema for each kind, by which every field of it is valid', async () => {
    const full = [...kinds.map(({ kind }) => fullSample(kind)), externalHub];
    expect(await checked(full)).toEqual({ valid: full.length, findings: [] });
  });

  test('accepts all samples', async () => {
    const { valid, findings } = await kubeconform(
      join(repository, LOCATION),
      whole.map(([name]) => join(repository, name)),
    );
    expect(findings).toEqual([]);
    expect(valid).toBeGreaterThan(25);
  });

  test.each(wrong)('refuses %s', async (_, resource) => {
    const { valid, findings } = await checked([resource]);
    expect({ valid, kinds: findings.map(({ kind }) => kind) }).toEqual({ valid: 0, kinds: [resource.kind] });
  });
});

type Document = Parameters<ReturnType<typeof getLanguageService>['doValidation']>[0];

describe('dist/schemas in an editor', () => {
  const editor = getLanguageService({
    schemaRequestService: (uri) => readFile(fileURLToPath(uri), 'utf8'),
    workspaceContext: {
      resolveRelativePath: (path, resource) =>
        pathToFileURL(resolve(dirname(fileURLToPath(resource)), path)).toString(),
    },
  });
  editor.configure({ validate: true, completion: true, hover: true, yamlVersion: '1.1', schemas: [] });
  let version = 0;
  /** Opens a text as a file of the folder samples. */
  const open = (text: string, name = 'samples/x.yaml') =>
    // The package exports an older interface of documents than the one that its functions use.
    TextDocument.create(
      pathToFileURL(join(repository, name)).toString(),
      'yaml',
      ++version,
      text,
    ) as Document;
  const modeline = (name: string) =>
    `# yaml-language-server: $schema=${relative(dirname(name), 'dist/schemas/all.json')}\n`;
  const marks = async (document: Document) =>
    (await editor.doValidation(document, false)).map(
      ({ message, range }) => `${range.start.line}: ${message}`,
    );

  test('each sample refers to the schemas in its first line, and nothing in it is marked', async () => {
    for (const [name, text] of samples) {
      expect(text.startsWith(modeline(name))).toBe(true);
      if (whole.some(([each]) => each === name))
        expect({ name, marks: await marks(open(text, name)) }).toEqual({ name, marks: [] });
    }
  });

  test.each(wrong)('marks %s', async (_, resource) => {
    expect(await marks(open(`${modeline('samples/x.yaml')}${dump(resource)}`))).toHaveLength(1);
  });

  test('marks an unquoted on in a scene, which kubectl reads as a boolean', async () => {
    const scene = changed(fullSample('HubScene'), { 'spec.entities': { 'light.one': { state: 'ON' } } });
    const text = `${modeline('samples/x.yaml')}${dump(scene).replace(/state: .*/, 'state: on')}`;
    expect(await marks(open(text))).not.toEqual([]);
  });

  test('does not check a Secret in the same file', async () => {
    const secret = { apiVersion: 'v1', kind: 'Secret', metadata: { name: 's' }, stringData: { a: 'b' } };
    expect(await marks(open(`${modeline('samples/x.yaml')}${dump(secret)}`))).toEqual([]);
  });

  describe('dist/schemas/hubtest.json', () => {
    const first = '# yaml-language-server: $schema=../dist/schemas/hubtest.json\n';
    const inFile = (...steps: readonly string[]) =>
      open(
        `${first}hubtest: v1\nstart: 2026-11-02T18:00\ngiven: {light.hall: on, sensor.a: 21.50}\ntests:\n- name: a\n  steps:\n${steps.map((each) => `  - ${each}\n`).join('')}`,
        'samples/a.hubtest.yaml',
      );

    test.each(['1.1', '1.2'] as const)('marks nothing in a valid file, as YAML %s', async (yamlVersion) => {
      editor.configure({ validate: true, completion: true, hover: true, yamlVersion, schemas: [] });
      const document = inFile(
        'set: {light.hall: off, sensor.a: {state: 5, attributes: {unit: x}}}',
        'fire: {event_type: gong}',
        'call: {action: light.turn_on, target: {entity_id: light.hall}}',
        'advance: 1h30m',
        'at: "23:00"',
        'at: sunset - 30m',
        'restart: {down: 30s}',
        'expect: {calls: [light.turn_on, {action: light.turn_off, times: 2}], none: [a.b], states: {light.hall: on}, within: 00:05:00}',
      );
      expect(await marks(document)).toEqual([]);
    });

    test.each([
      ['a field that does not exist', 'wait: 5'],
      ['two verbs', 'set: {a.b: c}\n    advance: 5'],
      ['a duration of words', 'advance: 5 minutes'],
      ['an empty list of calls', 'expect: {calls: []}'],
      ['an entity without a domain', 'set: {hall: x}'],
    ])('marks %s', async (_, step) => {
      expect(await marks(inFile(step))).not.toEqual([]);
    });

    test('shows what a field means, and completes it', async () => {
      const document = inFile('expect: {only: true}', '');
      const text = document.getText();
      const hover = await editor.doHover(document, document.positionAt(text.indexOf('only') + 1));
      expect(JSON.stringify(hover)).toContain('no other call');
      const { items } = await editor.doComplete(document, document.positionAt(text.length - 1), false);
      expect(items.map(({ label }) => label)).toEqual(expect.arrayContaining(['set', 'advance', 'expect']));
    });
  });

  test('shows what a field means', async () => {
    const text = `${modeline('samples/x.yaml')}${dump(fullSample('HubAutomation'))}`;
    const document = open(text);
    const hover = await editor.doHover(document, document.positionAt(text.indexOf('mode: ') + 1));
    expect(JSON.stringify(hover)).toContain('queued');
  });
});

import { readFile } from 'node:fs/promises';
import { area, automation, floor, hub, integration, kinds, scene, script } from '../../../operator/kinds';
import { specRules } from '../../../operator/kinds/hub/rules';
import { columnsOf } from '../../../operator/kinds/columns';
import type { Schema } from '../../../operator/kinds/schema';
import { readManifests } from '../../../manifests/read-manifests';
import { resource } from '../resource';

describe('kinds', () => {
  test('has each kind once', () => {
    expect(kinds.map(({ kind }) => kind).sort()).toEqual([
      'Hub',
      'HubArea',
      'HubAutomation',
      'HubBlueprint',
      'HubCommunityRepository',
      'HubConfiguration',
      'HubDevice',
      'HubEntity',
      'HubFloor',
      'HubHelper',
      'HubIntegration',
      'HubLabel',
      'HubPerson',
      'HubScene',
      'HubScript',
      'HubSecrets',
      'HubZone',
    ]);
  });

  test('has no name twice, neither short nor long', () => {
    const names = kinds.flatMap(({ plural, singular, shortNames }) => [plural, singular, ...shortNames]);
    expect(names).toHaveLength(new Set(names).size);
  });
});

test('each list declares how server-side apply merges it: a later change would break stored objects', () => {
  const lists: Schema[] = [];
  JSON.stringify(readManifests('dist/crds.yaml'), (_, value: unknown) => {
    if ((value as Schema | null)?.type === 'array') lists.push(value as Schema);
    return value;
  });
  expect(lists.length).toBeGreaterThan(20);
  expect(lists.filter((schema) => !schema['x-kubernetes-list-type'])).toEqual([]);
});

describe.each(kinds.map((kind) => [kind.kind, kind] as const))('%s', (name, kind) => {
  const described = (path: string, schema: Schema): [string, string | undefined][] => [
    ...Object.entries(schema.properties ?? {}).flatMap(([field, inner]): [string, string | undefined][] => [
      [`${path}.${field}`, inner.description],
      ...described(`${path}.${field}`, inner),
    ]),
    ...[schema.items, schema.additionalProperties].flatMap((inner) =>
      inner ? described(`${path}[]`, inner) : [],
    ),
  ];
  const all = [...described('spec', kind.spec), ...described('status', kind.status)];

  test('is described, and so is every field, in sentences', () => {
    for (const text of [kind.description, kind.spec.description, kind.status.description])
      expect(text).toMatch(/^[A-Z].{8,}\.$/s);
    // The fields mention "the hub", so `kubectl explain` begins with an explanation of the term.
    expect(kind.description).toContain('Home Assistant');
    for (const [path, description] of all)
      expect([path, description]).toEqual([path, expect.stringMatching(/^\S.{8,}\.$/s)]);
  });

  test('says the default of every field that has one', () => {
    const withDefault = (path: string, schema: Schema): [string, Schema][] => [
      ...Object.entries(schema.properties ?? {}).flatMap(([field, inner]) =>
        withDefault(`${path}.${field}`, inner),
      ),
      ...[schema.items, schema.additionalProperties].flatMap((inner) =>
        inner ? withDefault(`${path}[]`, inner) : [],
      ),
      ...(schema.default !== undefined && typeof schema.default !== 'object'
        ? [[path, schema] as [string, Schema]]
        : []),
    ];
    for (const [path, { default: value, description }] of withDefault('spec', kind.spec))
      expect([path, description]).toEqual([
        path,
        expect.stringMatching(
          value === ''
            ? /Default: empty/
            : new RegExp(`Default .*${String(value)}|${String(value)} \\(default\\)`, 's'),
        ),
      ]);
  });

  test('tells to quote the states of the hub', () => {
    for (const [path, description] of all)
      if (/\.(triggers|conditions|actions|sequence|state|attributes)$/.test(path) && path.startsWith('spec.'))
        expect(description).toMatch(/Quote.*on.*off.*yes.*no.*kubectl reads them as booleans/s);
  });

  test('has fields that point to existing fields', () => {
    for (const { jsonPath } of columnsOf(kind)) {
      if (jsonPath.startsWith('.metadata.')) continue;
      const [part, field] = jsonPath.slice(1).split(/[.[]/);
      expect(kind[part as 'spec' | 'status'].properties).toHaveProperty(field!);
    }
  });

  if (name !== 'Hub')
    test('belongs to the Hub to which it refers, and is reconciled when that changes', () => {
      const spec = {
        hubRef: { name: 'home' },
        name: 'x',
        domain: 'sun',
        secretRefs: [],
        repository: 'a/b',
        select: {},
      };
      expect(kind.hubName(resource('x', spec))).toBe('home');
      expect(kind.references(resource('x', spec))).toContainEqual({ kind: 'Hub', name: 'home' });
    });
});

const hubRef = { name: 'home' };
const secret = (name: string) => ({ kind: 'Secret', name });

describe('kinds: removal', () => {
  test('applies to every kind where the operator is uninstalled', async () => {
    const page = await readFile('docs/how-to/uninstall.md', 'utf8');
    const [, listed] = /kubectl delete (\S+) --all --all-namespaces/.exec(page)!;
    expect(listed!.split(',').sort()).toEqual(kinds.map(({ plural }) => plural).sort());
  });
});

describe('kinds: references', () => {
  test('a Hub may use the Secrets that the operator makes for it, and those to which it refers, for itself', () => {
    const spec = { backup: { passwordSecretRef: { name: 'backups' } } };
    expect(hub.reservedSecrets!(resource('home', spec))).toEqual([
      'home-admin',
      'home-api-token',
      'home-operator',
      'home-secrets',
      'backups',
    ]);
  });

  test('for a Hub are the generated objects and the Secrets that it reads', () => {
    const own = hub.references(resource('home', {}));
    expect(own).toContainEqual({ kind: 'ConfigMap', name: 'home-configuration' });
    expect(own).toEqual(expect.arrayContaining(['home-secrets', 'home-api-token', 'home-admin'].map(secret)));

    const named = hub.references(
      resource('home', {
        bootstrap: { apiTokenSecretName: 'token', credentials: { secretRef: { name: 'owner' } } },
        backup: { passwordSecretRef: { name: 'backup' } },
        ingress: { tls: { secretName: 'tls' } },
      }),
    );
    expect(named).toEqual(expect.arrayContaining(['token', 'owner', 'backup', 'tls'].map(secret)));
    expect(named).not.toContainEqual(secret('home-admin'));
    const moved = (existingClaim: string) => hub.references(resource('home', { storage: { existingClaim } }));
    expect(moved('villa-config')).toContainEqual({ kind: 'Hub', name: 'villa' });
    expect(moved('attic')).toEqual(own);
  });

  test('of an external Hub are the Secrets of its token and its CA; it has no configuration', () => {
    const external = { url: 'http://box', tokenSecretRef: { name: 'box' }, caSecretRef: { name: 'ca' } };
    expect(hub.references(resource('home', { external }))).toEqual([secret('box'), secret('ca')]);
  });

  test('of an integration are the Secrets of all its answers, each once', () => {
    const from = (name: string) => ({ x: { secretKeyRef: { name, key: 'k' } }, y: { value: '1' } });
    const references = integration.references(
      resource('home', {
        hubRef,
        domain: 'mqtt',
        configuration: { ...from('a'), file: { fileSecretKeyRef: { name: 'b', key: 'k' } } },
        options: from('a'),
        steps: [{ stepId: 'user', values: from('c') }],
        subentries: [{ type: 'device', title: 'x', values: from('d') }],
      }),
    );
    const names = references.filter(({ kind }) => kind === 'Secret').map(({ name }) => name);
    expect(names).toEqual(['home-api-token', 'a', 'b', 'c', 'd']);
  });

  test('of an area are its floor and labels, by the name that identifies them', () => {
    const spec = { hubRef, name: 'Kitchen', floorName: 'Ground  Floor', labels: ['Big Room'] };
    const references = area.references(resource('home', spec));
    const theFloor = resource('eg', { hubRef, name: 'ground floor' });
    expect(references).toContainEqual({ kind: 'HubFloor', name: floor.identity!(theFloor) });
    expect(references).toContainEqual({ kind: 'HubLabel', name: 'bigroom' });
  });
});

describe('kinds: identity', () => {
  test('is a value that two resources cannot both have in one hub', () => {
    expect(automation.identity!(resource('home', { hubRef, alias: 'x' }))).toBe('home');
    expect(scene.identity!(resource('home', { hubRef, name: 'x', entities: [], id: 'movie' }))).toBe('movie');
    expect(script.identity!(resource('a-b', { hubRef, alias: 'x' }))).toBe('a_b');
    expect(floor.identity!(resource('home', { hubRef, name: 'Ground Floor' }))).toBe('groundfloor');
  });

  test('of an integration is its domain with its title', () => {
    expect(integration.identity!(resource('home', { hubRef, domain: 'sun', title: 'Sun' }))).toBe('sun/Sun');
  });
});

describe('specRules', () => {
  const { version, image, hostNetwork } = hub.spec.properties;

  test.each([
    ['version', `'${version.default}'`],
    ['image', `'${image.default}'`],
    ['hostNetwork', String(hostNetwork.default)],
  ])('an external Hub may have the %s that the API server fills in', (field, literal) => {
    const [, accepted = ''] = new RegExp(`self\\.${field} in \\[(.*?)\\]`).exec(
      specRules.externalHasNoWorkload.rule,
    )!;
    expect(accepted.split(', ')).toContain(literal);
  });
});

import fc from 'fast-check';
import {
  mergeKeys,
  mergePodTemplate,
  NotMergeable,
  type PodTemplate,
} from '../../../../../operator/sync/hub/workload/merge';

const merged = (base: object, part: object) => mergePodTemplate(base as PodTemplate, part as PodTemplate);

describe('by hand', () => {
  const base = {
    metadata: { labels: { app: 'hub' } },
    spec: {
      terminationGracePeriodSeconds: 240,
      tolerations: [{ key: 'base' }],
      containers: [
        {
          name: 'hub',
          image: 'hub:1',
          env: [{ name: 'TZ', value: 'UTC' }],
          ports: [{ name: 'http', containerPort: 8123, protocol: 'TCP' }],
          livenessProbe: { httpGet: { path: '/', port: 'http' }, periodSeconds: 30 },
          volumeMounts: [{ name: 'config', mountPath: '/config' }],
        },
      ],
      volumes: [{ name: 'config', emptyDir: {} }],
    },
  };

  test.each<[string, object, object]>([
    [
      'a label is added',
      { metadata: { labels: { zone: 'a' } } },
      { metadata: { labels: { app: 'hub', zone: 'a' } } },
    ],
    [
      'a scalar is replaced',
      { spec: { terminationGracePeriodSeconds: 300 } },
      { spec: { terminationGracePeriodSeconds: 300 } },
    ],
    [
      'null takes away',
      { spec: { terminationGracePeriodSeconds: null } },
      { spec: { terminationGracePeriodSeconds: undefined } },
    ],
    ['$patch: delete takes away', { metadata: { labels: { $patch: 'delete' } } }, { metadata: {} }],
    [
      '$patch: replace replaces',
      { metadata: { labels: { $patch: 'replace', a: 'b' } } },
      { metadata: { labels: { a: 'b' } } },
    ],
    [
      'an atomic list is replaced',
      { spec: { tolerations: [{ key: 'own' }] } },
      { spec: { tolerations: [{ key: 'own' }] } },
    ],
    [
      'volumes are known by name',
      { spec: { volumes: [{ name: 'media', emptyDir: {} }] } },
      {
        spec: {
          volumes: [
            { name: 'config', emptyDir: {} },
            { name: 'media', emptyDir: {} },
          ],
        },
      },
    ],
    [
      'a sidecar comes after the hub',
      { spec: { containers: [{ name: 'sidecar' }] } },
      { spec: { containers: [base.spec.containers[0], { name: 'sidecar' }] } },
    ],
    [
      'a list can be replaced',
      { spec: { volumes: [{ $patch: 'replace' }, { name: 'x' }] } },
      { spec: { volumes: [{ name: 'x' }] } },
    ],
    [
      'an item can be deleted',
      { spec: { volumes: [{ name: 'config', $patch: 'delete' }] } },
      { spec: { volumes: [] } },
    ],
  ])('%s', (_, part, expected) => {
    const result = merged(base, part);
    expect(result).toEqual({
      ...base,
      ...expected,
      spec: { ...base.spec, ...(expected as { spec?: object }).spec },
    });
  });

  const hub = (part: object) =>
    (merged(base, { spec: { containers: [{ name: 'hub', ...part }] } }) as typeof base).spec
      .containers[0] as Record<string, unknown>;

  test('env by name; a source takes the place of a value', () => {
    const valueFrom = { fieldRef: { fieldPath: 'spec.nodeName' } };
    expect(
      hub({
        env: [
          { name: 'TZ', valueFrom },
          { name: 'A', value: '1' },
        ],
      })['env'],
    ).toEqual([
      { name: 'TZ', valueFrom },
      { name: 'A', value: '1' },
    ]);
  });

  test('ports by number and protocol', () => {
    expect(
      hub({
        ports: [
          { containerPort: 8123, hostPort: 80 },
          { containerPort: 8123, protocol: 'UDP' },
        ],
      })['ports'],
    ).toEqual([
      { name: 'http', containerPort: 8123, protocol: 'TCP', hostPort: 80 },
      { containerPort: 8123, protocol: 'UDP' },
    ]);
  });

  test('mounts by path', () => {
    const mount = { name: 'media', mountPath: '/media' };
    expect(hub({ volumeMounts: [mount] })['volumeMounts']).toEqual([
      { name: 'config', mountPath: '/config' },
      mount,
    ]);
  });

  test('a probe has one handler', () => {
    expect(hub({ livenessProbe: { exec: { command: ['true'] } } })['livenessProbe']).toEqual({
      exec: { command: ['true'] },
      periodSeconds: 30,
    });
    expect(hub({ livenessProbe: { httpGet: { path: '/other' } } })['livenessProbe']).toEqual({
      httpGet: { path: '/other', port: 'http' },
      periodSeconds: 30,
    });
    expect(hub({ livenessProbe: null })['livenessProbe']).toBeUndefined();
  });

  test.each([
    [{ spec: { containers: [{ image: 'x' }] } }, 'spec.containers[0]: needs name'],
    [{ spec: { containers: ['x'] } }, 'spec.containers[0]: an object is needed here'],
    [
      { spec: { containers: [{ name: 'hub', volumeMounts: [{ name: 'x' }] }] } },
      'spec.containers.volumeMounts[0]: needs mountPath',
    ],
  ])('%j is refused', (part, message) => {
    expect(() => merged(base, part)).toThrow(new NotMergeable(message));
  });
});

describe('always', () => {
  /** Pod templates, or parts of them, of fields and lists that occur in both arguments. */
  const word = fc.constantFrom('a', 'b', 'c');
  const object = fc.dictionary(
    word,
    fc.oneof(word, fc.integer({ min: 0, max: 3 }), fc.array(word, { maxLength: 2 })),
    { maxKeys: 3 },
  );
  const listBy = (key: string, item: fc.Arbitrary<object>) =>
    fc.uniqueArray(
      fc.tuple(word, item).map(([value, rest]) => ({ ...rest, [key]: value })),
      {
        selector: (each) => (each as Record<string, unknown>)[key],
        maxLength: 3,
      },
    );
  const container = fc.record(
    {
      image: word,
      env: listBy('name', fc.record({ value: word })),
      volumeMounts: listBy('mountPath', object),
      args: fc.array(word),
    },
    { requiredKeys: [] },
  );
  const template = fc.record(
    {
      metadata: fc.record({ labels: object, annotations: object }, { requiredKeys: [] }),
      spec: fc.record(
        {
          containers: listBy('name', container),
          volumes: listBy('name', object),
          tolerations: fc.array(object, { maxLength: 2 }),
        },
        { requiredKeys: [] },
      ),
    },
    { requiredKeys: [] },
  );

  test('an empty part changes nothing, and neither argument is changed', () => {
    fc.assert(
      fc.property(template, template, (base, part) => {
        const before = structuredClone({ base, part });
        expect(merged(base, {})).toEqual(base);
        merged(base, part);
        expect({ base, part }).toEqual(before);
      }),
    );
  });

  test('all that the part says is there, and nothing that neither says', () => {
    fc.assert(
      fc.property(template, template, (base, part) => {
        const result = leaves(merged(base, part), '');
        for (const leaf of leaves(part, '')) expect(result).toContain(leaf);
        const said = [...leaves(base, ''), ...leaves(part, '')];
        for (const leaf of result) expect(said).toContain(leaf);
      }),
    );
  });

  test('all that the part does not speak of stays', () => {
    fc.assert(
      fc.property(template, template, (base, part) => {
        const result = leaves(merged(base, part), '');
        const spoken = new Set(leaves(part, '').map(placeOf));
        for (const leaf of leaves(base, '')) if (!spoken.has(placeOf(leaf))) expect(result).toContain(leaf);
      }),
    );
  });

  test('the same part again changes nothing', () => {
    fc.assert(
      fc.property(template, template, (base, part) => {
        const once = merged(base, part);
        expect(merged(once, part)).toEqual(once);
      }),
    );
  });

  /** `place=value` of everything that is replaced as a whole, with list items by their key. */
  function leaves(value: unknown, path: string, keyed = path): string[] {
    const keys = mergeKeys[path];
    if (Array.isArray(value) && keys) {
      return value.flatMap((item: Record<string, unknown>) => [
        `${keyed}[${item[keys[0]!]}]=there`,
        ...leaves(item, path, `${keyed}[${item[keys[0]!]}]`),
      ]);
    }
    if (typeof value === 'object' && value !== null && !Array.isArray(value)) {
      return Object.entries(value).flatMap(([field, each]) =>
        leaves(each, path ? `${path}.${field}` : field, `${keyed}.${field}`),
      );
    }
    return [`${keyed}=${JSON.stringify(value)}`];
  }

  const placeOf = (leaf: string) => leaf.slice(0, leaf.indexOf('='));
});

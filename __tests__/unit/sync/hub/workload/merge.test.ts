import {
  mergeKeys,
  mergePodTemplate,
  NotMergeable,
  type PodTemplate,
} from '../../../../../operator/sync/hub/workload/merge';
import fc from '../../../../fast-check';

const merged = (base: object, part: object) => mergePodTemplate(base as PodTemplate, part as PodTemplate);

describe('mergePodTemplate', () => {
  describe('with examples', () => {
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
        'adds a label',
        { metadata: { labels: { zone: 'a' } } },
        { metadata: { labels: { app: 'hub', zone: 'a' } } },
      ],
      [
        'replaces a scalar',
        { spec: { terminationGracePeriodSeconds: 300 } },
        { spec: { terminationGracePeriodSeconds: 300 } },
      ],
      [
        'removes a field by null',
        { spec: { terminationGracePeriodSeconds: null } },
        { spec: { terminationGracePeriodSeconds: undefined } },
      ],
      [
        'removes an object by $patch: delete',
        { metadata: { labels: { $patch: 'delete' } } },
        { metadata: {} },
      ],
      [
        'replaces an object by $patch: replace',
        { metadata: { labels: { $patch: 'replace', a: 'b' } } },
        { metadata: { labels: { a: 'b' } } },
      ],
      [
        'replaces an atomic list',
        { spec: { tolerations: [{ key: 'own' }] } },
        { spec: { tolerations: [{ key: 'own' }] } },
      ],
      [
        'merges volumes by name',
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
        'adds a sidecar after the hub',
        { spec: { containers: [{ name: 'sidecar' }] } },
        { spec: { containers: [base.spec.containers[0], { name: 'sidecar' }] } },
      ],
      [
        'replaces a list on request',
        { spec: { volumes: [{ $patch: 'replace' }, { name: 'x' }] } },
        { spec: { volumes: [{ name: 'x' }] } },
      ],
      [
        'deletes an item on request',
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

    test('merges env by name, and a source replaces a value', () => {
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

    test('merges ports by number and protocol', () => {
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

    test('merges mounts by path', () => {
      const mount = { name: 'media', mountPath: '/media' };
      expect(hub({ volumeMounts: [mount] })['volumeMounts']).toEqual([
        { name: 'config', mountPath: '/config' },
        mount,
      ]);
    });

    test('keeps one handler of a probe', () => {
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
      [{ spec: { containers: ['x'] } }, 'spec.containers[0]: must be an object'],
      [
        { spec: { containers: [{ name: 'hub', volumeMounts: [{ name: 'x' }] }] } },
        'spec.containers.volumeMounts[0]: needs mountPath',
      ],
      [
        { spec: { containers: [{ name: 'hub', volumeMounts: [{ name: 'x', mountPath: 5 }] }] } },
        'spec.containers.volumeMounts[0]: mountPath must be text: quote it',
      ],
      [{ spec: { containers: [{ name: true }] } }, 'spec.containers[0]: name must be text: quote it'],
    ])('refuses %j', (part, message) => {
      expect(() => merged(base, part)).toThrow(new NotMergeable(message));
    });
  });

  describe('with any templates', () => {
    /** Pod templates, or parts of them, with fields and lists that occur in both arguments. */
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

    test('changes nothing for an empty part, and never an argument', () => {
      fc.assert(
        fc.property(template, template, (base, part) => {
          const before = structuredClone({ base, part });
          expect(merged(base, {})).toEqual(base);
          merged(base, part);
          expect({ base, part }).toEqual(before);
        }),
      );
    });

    test('contains all of the part, and nothing that is in neither argument', () => {
      fc.assert(
        fc.property(template, template, (base, part) => {
          const result = leaves(merged(base, part), '');
          for (const leaf of leaves(part, '')) expect(result).toContain(leaf);
          const said = [...leaves(base, ''), ...leaves(part, '')];
          for (const leaf of result) expect(said).toContain(leaf);
        }),
      );
    });

    test('keeps fields that the part does not set', () => {
      fc.assert(
        fc.property(template, template, (base, part) => {
          const result = leaves(merged(base, part), '');
          const spoken = new Set(leaves(part, '').map(placeOf));
          for (const leaf of leaves(base, '')) if (!spoken.has(placeOf(leaf))) expect(result).toContain(leaf);
        }),
      );
    });

    test('changes nothing when the same part is merged again', () => {
      fc.assert(
        fc.property(template, template, (base, part) => {
          const once = merged(base, part);
          expect(merged(once, part)).toEqual(once);
        }),
      );
    });

    /** Returns `place=value` for everything that is replaced as a whole, with list items by their key. */
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
});

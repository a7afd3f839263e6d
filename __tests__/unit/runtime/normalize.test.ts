import { setFlagsFromString } from 'node:v8';
import { runInThisContext } from 'node:vm';
import { normalize } from '../../../operator/runtime/normalize';
import { builtin } from '../../../operator/runtime/types';

const object = {
  metadata: {
    name: 'villa',
    namespace: 'home',
    managedFields: [{ manager: 'kubectl' }],
    annotations: { 'kubectl.kubernetes.io/last-applied-configuration': '{}', 'example.com/a': 'kept' },
    uid: '1',
  },
  data: { token: 'secret' },
};

describe('normalize', () => {
  test('the cached form has its kind, and neither managedFields nor kubectl’s last applied configuration', () => {
    expect(normalize(object, { type: builtin.Secret })).toEqual({
      apiVersion: 'v1',
      kind: 'Secret',
      metadata: { name: 'villa', namespace: 'home', annotations: { 'example.com/a': 'kept' }, uid: '1' },
      data: { token: 'secret' },
    });
  });

  test('of metadata only, annotations with the prefix are kept, and no data', () => {
    const { metadata, ...rest } = normalize(object, {
      type: builtin.Secret,
      metadataOnly: true,
      annotationPrefix: 'example.com/',
    });
    expect(rest).toEqual({ apiVersion: 'v1', kind: 'Secret' });
    expect(metadata).toHaveProperty('annotations', { 'example.com/a': 'kept' });
  });

  test('V8 keeps cached metadata as an object of known fields, not as a hash table of five times the size', () => {
    setFlagsFromString('--allow-natives-syntax');
    const isCompact = runInThisContext('(object) => %HasFastProperties(object)') as (
      object: object,
    ) => boolean;
    const deleted: Record<string, unknown> = { ...object.metadata };
    delete deleted['managedFields'];
    expect(isCompact(deleted)).toBe(false);
    for (const metadataOnly of [false, true])
      expect(isCompact(normalize(object, { type: builtin.Secret, metadataOnly }).metadata)).toBe(true);
    // reset only after the first call, which compiles the function
    setFlagsFromString('--no-allow-natives-syntax');
  });
});

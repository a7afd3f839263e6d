import { readsDelivery } from '../../../../operator/sync/hub-pod/delivery';
import { aHub, services } from '../fixtures';

/** @param ours whether the operator made the existing ConfigMap; undefined when there is none */
const reads = (spec: object, ours?: boolean) =>
  readsDelivery(
    services({
      cache: {
        get: ((kind: string, _namespace: string, name: string) => {
          if (kind === 'Hub') return aHub({ spec });
          return ours !== undefined && name === 'villa-delivery-3' ? { metadata: { name } } : undefined;
        }) as never,
      },
      applier: { isOurs: () => ours === true },
    }),
    'home',
    'villa',
  );

test.each([
  ['with delivery: File', { delivery: 'File' }, undefined, true],
  ['no files by Api', {}, undefined, false],
  ['what is left of before', {}, true, true],
  ['no ConfigMap that another one made', {}, false, false],
  ['none of an external hub', { delivery: 'File', external: { url: 'http://x' } }, true, false],
] as const)('a hub reads delivered files: %s', (_, spec, ours, expected) => {
  expect(reads(spec, ours)).toBe(expected);
});

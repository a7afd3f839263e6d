import { unsupportedParts } from '../../../operator/sync/configuration/unsupported';

const auto = { reloadStrategy: 'auto' } as const;

describe('unsupportedParts', () => {
  test('a configuration without them has none', () => {
    expect(unsupportedParts(auto, ['logger', 'recorder'], '2026.11.0')).toEqual([]);
    expect(unsupportedParts({ reloadStrategy: 'restart' }, [], '2026.11.0')).toEqual([]);
  });

  test('hot-reload is named with the way out', () => {
    const parts = unsupportedParts({ reloadStrategy: 'hot-reload' }, [], '2026.11.0');
    expect(parts).toEqual([
      expect.stringMatching(/^spec\.reloadStrategy hot-reload .* Set it to restart or auto\.$/),
    ]);
  });

  test.each([
    ['2026.7.4', 0],
    ['2026.8.0', 1],
    ['2026.11.0', 1],
    [undefined, 1],
  ])('http: is one for a hub of version %s: %d', (version, count) => {
    expect(unsupportedParts(auto, ['http'], version)).toHaveLength(count);
  });
});

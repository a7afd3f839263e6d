import { isLower, isOtherVersion } from '../../../operator/base/hub-version';
import fc from '../../fast-check';

describe('isLower', () => {
  test.each([
    ['2026.10.4', '2026.11.0'],
    ['2026.9.0', '2026.10.0'],
    ['2026.11.0', '2026.11.1'],
    ['2026.11.9', '2026.11.10'],
    ['2026.10', '2026.11.0'],
    ['2025.12', '2026.1'],
    ['2026.11.0b3', '2026.11.0'],
    ['2026.11.0b2', '2026.11.0b10'],
  ])('says that %s is lower than %s', (version, other) => {
    expect(isLower(version, other)).toBe(true);
    expect(isLower(other, version)).toBe(false);
  });

  test.each([
    ['2026.11', '2026.11.3'],
    ['stable', '2026.11.0'],
    ['dev', '2026.11.0'],
    ['2026.12.0.dev202611010230', '2027.1.0'],
    [`sha256:${'0'.repeat(64)}`, '2026.11.0'],
    ['2026.11.0', '2026.11.0'],
  ])('calls neither %s nor %s lower', (version, other) => {
    expect(isLower(version, other)).toBe(false);
    expect(isLower(other, version)).toBe(false);
  });

  test('of two different versions exactly one is lower, for all versions', () => {
    const part = fc.integer({ min: 0, max: 12 });
    const version = fc
      .tuple(part, part, part, fc.option(part))
      .map(([a, b, c, beta]) => `${a}.${b}.${c}${beta === null ? '' : `b${beta}`}`);
    fc.assert(
      fc.property(version, version, version, (a, b, c) => {
        expect(isLower(a, b) && isLower(b, a)).toBe(false);
        if (a !== b) expect(isLower(a, b) || isLower(b, a)).toBe(true);
        if (isLower(a, b) && isLower(b, c)) expect(isLower(a, c)).toBe(true);
      }),
    );
  });
});

describe('isOtherVersion', () => {
  test.each([
    ['2026.11.0', '2026.11.1'],
    ['2026.12.0', '2026.11.1'],
    ['2026.11.0', '2026.11.0b3'],
    ['2026.11', '2026.10.4'],
  ])('is said of the tag %s and the hub %s', (tag, version) => {
    expect(isOtherVersion(tag, version)).toBe(true);
  });

  test.each([
    ['2026.11.0', '2026.11.0'],
    ['2026.11', '2026.11.4'],
    ['stable', '2026.11.0'],
    ['1.4.0', '2026.11.0'],
    ['2026.11.0', '2026.12.0.dev202611010230'],
  ])('is not said of the tag %s and the hub %s', (tag, version) => {
    expect(isOtherVersion(tag, version)).toBe(false);
  });
});

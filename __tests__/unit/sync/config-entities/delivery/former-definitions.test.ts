import {
  LARGEST_DATA,
  LARGEST_SIZE,
  USUAL_SIZE,
} from '../../../../../operator/sync/config-entities/delivery/assignment';
import {
  type Former,
  formerText,
  readFormerText,
} from '../../../../../operator/sync/config-entities/delivery/former-definitions';

const former = (size: number): Former => ({
  definition: { alias: 'é'.repeat(size / 2) },
  accepted: 'sha256:1',
});

describe('what definitions replaced', () => {
  test('is read as it was written, also that there was nothing', () => {
    const formers = new Map<string, Former>([
      ['automation a', former(10)],
      ['script b', { definition: null, accepted: '' }],
    ]);
    expect(readFormerText(formerText([...formers], 0))).toEqual(formers);
    expect(formerText([], 0)).toBeUndefined();
  });

  test.each([
    '{"automation a": ',
    'null',
    '[1]',
    '{"automation a": {"definition": 1, "accepted": ""}}',
    '{"a": null}',
  ])('is nothing in a text that someone has broken: %s', (text) => {
    expect(readFormerText(text).size).toBe(0);
  });

  test('is left out where the API server would not take it beside the definitions, counted in bytes', () => {
    const formers = Array.from(
      { length: 9 },
      (_, index) => [`automation ${index}`, former(100_000)] as const,
    );
    const text = formerText(formers, 500_000)!;
    expect(readFormerText(text).size).toBe(5);
    expect(500_000 + Buffer.byteLength(text)).toBeLessThanOrEqual(LARGEST_DATA);
    expect(formerText(formers, LARGEST_SIZE + 100_000)).toBeUndefined();
  });

  test('has room beside as many definitions as a ConfigMap usually has', () => {
    expect(2 * USUAL_SIZE).toBeLessThan(LARGEST_DATA);
  });
});

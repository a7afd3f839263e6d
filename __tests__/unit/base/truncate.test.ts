import { truncate } from '../../../operator/base/truncate';

describe('truncate', () => {
  test('leaves a text unchanged that is not too long', () => {
    expect(truncate('12345', 5)).toBe('12345');
  });

  test('marks the cut and keeps within the limit', () => {
    expect(truncate('123456', 5)).toBe('1234…');
  });

  test('does not split a surrogate pair', () => {
    expect(truncate('123😀678', 5)).toBe('123…');
    expect(truncate('12😀678', 5)).toBe('12😀…');
  });
});

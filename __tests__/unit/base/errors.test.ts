import { errorOf, messageOf } from '../../../operator/base/errors';

describe('errorOf', () => {
  test('returns an error unchanged, and makes one of anything else', () => {
    const error = new TypeError('wrong');
    expect(errorOf(error)).toBe(error);
    expect(errorOf('wrong')).toEqual(new Error('wrong'));
  });
});

describe('messageOf', () => {
  test('returns the text of an error and of anything else that was thrown', () => {
    expect(messageOf(new TypeError('wrong'))).toBe('wrong');
    expect(messageOf(undefined)).toBe('undefined');
  });
});

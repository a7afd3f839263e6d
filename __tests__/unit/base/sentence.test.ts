import { sentence } from '../../../operator/base/sentence';

describe('sentence', () => {
  test.each([
    ['the hub did not respond within 2 s', 'The hub did not respond within 2 s'],
    ['this step needs a browser', 'This step needs a browser'],
    ['The hub failed.', 'The hub failed.'],
    ['spec.id is empty.', 'spec.id is empty.'],
    ['http://10.0.0.1:8123 cannot be reached: connection refused', undefined],
    ['theatre is the name of a Hub.', undefined],
    ['', undefined],
  ])('%j', (message, expected = message) => {
    expect(sentence(message)).toBe(expected);
  });
});

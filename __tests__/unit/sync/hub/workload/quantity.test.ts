import { parseQuantity } from '../../../../../operator/sync/hub/workload/quantity';
import fc from '../../../../fast-check';

describe('parseQuantity', () => {
  test.each([
    ['5Gi', 5 * 2 ** 30],
    ['5368709120', 5 * 2 ** 30],
    ['1.5Gi', 1.5 * 2 ** 30],
    ['5G', 5e9],
    ['1e3', 1000],
    ['1E', 1e18],
    ['12E2', 1200],
    ['500m', 0.5],
    ['250u', 0.00025],
    ['.5k', 500],
    ['0', 0],
  ])('reads %s as %d', (quantity, amount) => expect(parseQuantity(quantity)).toBeCloseTo(amount, 9));

  test('orders quantities by their suffix, and returns NaN for any other text', () => {
    const steps = ['n', 'u', 'm', '', 'k', 'M', 'G', 'T', 'P', 'E'];
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 999 }), fc.integer({ min: 0, max: 8 }), (number, index) => {
        expect(parseQuantity(`${number}${steps[index]}`)).toBeLessThan(
          parseQuantity(`${number}${steps[index + 1]}`),
        );
      }),
    );
    expect(parseQuantity('five')).toBeNaN();
  });
});

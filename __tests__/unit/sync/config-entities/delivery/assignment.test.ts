import {
  assign,
  LARGEST_SIZE,
  USUAL_SIZE,
} from '../../../../../operator/sync/config-entities/delivery/assignment';
import { MOST_DELIVERIES } from '../../../../../operator/kinds/object-names';

const sizes = (...first: readonly number[]) =>
  Array.from({ length: MOST_DELIVERIES }, (_, index) => first[index] ?? 0);
const all = (size: number) => sizes(...Array<number>(MOST_DELIVERIES).fill(size));

describe('assign', () => {
  test.each<[string, number, number | undefined, readonly number[], number | undefined]>([
    ['the first with room', 100, undefined, sizes(), 0],
    ['the next when the first has its usual size', 100, undefined, sizes(USUAL_SIZE), 1],
    ['where it is, beyond the usual size', 100, 0, sizes(USUAL_SIZE), 0],
    ['where it is, though another has room', 100, 3, sizes(0, 0, 0, 50), 3],
    ['another when it outgrows its own', 100, 0, sizes(LARGEST_SIZE - 99), 1],
    ['what is freed', 100, undefined, sizes(USUAL_SIZE, 50, USUAL_SIZE), 1],
    ['up to the most when all have the usual size', 100, undefined, all(USUAL_SIZE), 0],
    ['none when all are full', 100, undefined, all(LARGEST_SIZE - 99), undefined],
    ['none for one that is too large for any', LARGEST_SIZE + 1, undefined, sizes(), undefined],
    ['its own in a full hub, while it does not grow beyond that', 100, 2, all(LARGEST_SIZE - 100), 2],
  ])('%s', (_, bytes, current, others, expected) => {
    expect(assign(bytes, current, others)).toBe(expected);
  });
});

import { AnswerTooLarge, ApiError } from '../../../operator/runtime/api-errors';
import { listPages } from '../../../operator/runtime/list-pages';
import { ManualClock } from '../manual-clock';
import { FakeApiClient } from './fake-api-client';
import { widgets } from './objects';

/**
 * A server with numbers instead of objects. An answer has only as many of them as keep their sum within the
 * bound.
 */
function serverWith(numbers: readonly number[], bound = Infinity) {
  return new FakeApiClient(new ManualClock(), ({ query = {} }) => {
    const from = Number(query['continue'] ?? 0);
    const to = from + Number(query['limit']);
    const items = numbers.slice(from, to);
    if (items.reduce((sum, each) => sum + each, 0) > bound) throw new AnswerTooLarge('too large');
    return { items, metadata: to < numbers.length ? { continue: String(to) } : {} };
  });
}

async function read(cluster: FakeApiClient, until = Infinity): Promise<number[]> {
  const found: number[] = [];
  const query = { fieldSelector: 'a=b' };
  for await (const each of listPages<number>(cluster, widgets, 'home', { pageSize: 4, query }))
    if (found.push(each) === until) break;
  return found;
}

const limitsOf = ({ requests }: FakeApiClient) =>
  requests.map(({ query }) => [query?.['limit'], query?.['continue']]);

describe('listPages', () => {
  test('reads all pages, each with the selector', async () => {
    const cluster = serverWith([1, 2, 3, 4, 5, 6, 7, 8, 9]);
    expect(await read(cluster)).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9]);
    expect(limitsOf(cluster)).toEqual([
      [4, undefined],
      [4, '4'],
      [4, '8'],
    ]);
    for (const { query } of cluster.requests) expect(query).toMatchObject({ fieldSelector: 'a=b' });
  });

  test('requests no page that is not needed', async () => {
    const cluster = serverWith([1, 2, 3, 4, 5, 6]);
    expect(await read(cluster, 2)).toEqual([1, 2]);
    expect(cluster.requests).toHaveLength(1);
  });

  test('reads a page that is too large in halves, from its beginning', async () => {
    const cluster = serverWith([1, 1, 1, 1, 9, 9, 1], 10);
    expect(await read(cluster)).toEqual([1, 1, 1, 1, 9, 9, 1]);
    expect(limitsOf(cluster)).toEqual([
      [4, undefined],
      [4, '4'],
      [2, '4'],
      [1, '4'],
      [1, '5'],
      [1, '6'],
    ]);
  });

  test('fails with one object that is too large, and with any other error', async () => {
    await expect(read(serverWith([1, 11], 10))).rejects.toThrow(AnswerTooLarge);
    const error = new ApiError(403, 'Forbidden', 'no');
    const cluster = new FakeApiClient(new ManualClock(), () => {
      throw error;
    });
    await expect(read(cluster)).rejects.toBe(error);
    expect(cluster.requests).toHaveLength(1);
  });
});

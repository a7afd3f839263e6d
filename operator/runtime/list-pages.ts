import type { ApiClient, Query } from './api-client';
import { AnswerTooLarge } from './api-errors';
import { pathOf, type ResourceType } from './objects';

interface Page<T> {
  readonly items: readonly T[];
  readonly metadata?: { readonly continue?: string };
}

interface ListOptions {
  /** Largest number of objects in one response. */
  readonly pageSize: number;
  readonly query?: Query;
}

/**
 * Reads objects page by page, and only as far as the caller iterates: one response with all objects may be
 * more than the client parses. A page that is still too large is read again in halves.
 *
 * @throws AnswerTooLarge one object alone is too large
 */
export async function* listPages<T>(
  cluster: Pick<ApiClient, 'request'>,
  type: ResourceType,
  namespace: string | undefined,
  { pageSize, query }: ListOptions,
): AsyncGenerator<T> {
  const path = pathOf(type, namespace);
  let limit = pageSize;
  let next: string | undefined;
  const read = async (): Promise<Page<T>> => {
    try {
      return await cluster.request({ method: 'GET', path, query: { ...query, limit, continue: next } });
    } catch (error) {
      if (!(error instanceof AnswerTooLarge) || limit === 1) throw error;
      limit = Math.ceil(limit / 2);
      return read();
    }
  };
  do {
    const { items, metadata } = await read();
    yield* items;
    next = metadata?.continue || undefined;
  } while (next !== undefined);
}

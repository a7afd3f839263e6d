import { parseBounded, TooManyValues } from '../../base/bounded-json';
import { HubFailed, NotHomeAssistant } from './errors';

/** Keys and values of an answer over HTTP. */
const MAX_ANSWER_VALUES = 100_000;

export interface Answer {
  readonly status: number;
  /** Media type in lower case, without parameters. */
  readonly contentType: string;
  readonly body: Buffer;
}

/** @throws TooManyValues, NotHomeAssistant, HubFailed */
export function parse({ body, contentType }: Answer): unknown {
  if (contentType === 'text/plain') return body.toString();
  if (body.length === 0) return undefined;
  // The errors do not quote the answer, which may come from another server.
  if (!isJson(contentType)) throw new NotHomeAssistant('an answer is not JSON');
  return parseJson(body);
}

/** @throws TooManyValues, HubFailed */
export function parseJson(body: Uint8Array): unknown {
  try {
    return parseBounded(body, MAX_ANSWER_VALUES);
  } catch (error) {
    if (error instanceof TooManyValues) throw error;
    throw new HubFailed('an answer is not JSON, despite its content type');
  }
}

const isJson = (contentType: string): boolean => /[/+]json$/.test(contentType);

/** The hub's error text; undefined for other content types, such as the HTML error page of a proxy. */
export function hubMessage({ body, contentType }: Answer): string | undefined {
  const text = contentType === 'text/plain' ? body.toString() : isJson(contentType) ? jsonMessage(body) : '';
  return text.trim() || undefined;
}

function jsonMessage(body: Buffer): string {
  try {
    const parsed = parseBounded(body, MAX_ANSWER_VALUES) as Record<string, unknown> | null;
    for (const key of ['message', 'error_description', 'error']) {
      const value = parsed?.[key];
      if (typeof value === 'string' && value !== '') return value;
    }
  } catch {
    // The body has another shape, but it is still a text of the hub.
  }
  return body.toString();
}

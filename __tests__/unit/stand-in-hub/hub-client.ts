import type { HubClient } from '../../../operator/client/hub-client';

/** The parts of a client that a stand-in has, each as far as a test uses it. */
export type ClientParts = {
  readonly [Part in keyof HubClient]?: HubClient[Part] extends (...args: never[]) => unknown
    ? HubClient[Part]
    : { readonly [Member in keyof HubClient[Part]]?: unknown };
};

/**
 * Makes a client of these parts. The members of a part that several of them give are put together. A part or
 * a member that the real client does not have is a type error.
 */
export function hubClient(...given: readonly ClientParts[]): HubClient {
  const client: Record<string, object> = {};
  for (const parts of given)
    for (const [name, part] of Object.entries(parts) as [string, object][]) {
      const former = client[name];
      client[name] = former ? together(former, part) : part;
    }
  return client as unknown as HubClient;
}

/** Copies descriptors, since a getter must not be read before the operator reads it. */
function together(...parts: readonly object[]): object {
  const whole = {};
  for (const part of parts) Object.defineProperties(whole, Object.getOwnPropertyDescriptors(part));
  return whole;
}

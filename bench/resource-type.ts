import { kinds } from '../operator/kinds';
import { API_GROUP, API_VERSION } from '../operator/kinds/group';
import type { ResourceType } from '../operator/runtime/objects';

/** The resource type of one of our kinds, such as `Hub`. */
export function typeOf(kind: string): ResourceType {
  const { plural } = kinds.find((definition) => definition.kind === kind)!;
  return { group: API_GROUP, version: API_VERSION, plural, kind };
}

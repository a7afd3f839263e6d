import type { Bounded } from '../../../base/bounded-task';
import { isConfigMapOfHub } from '../../../kinds/object-names';
import type { HubBlueprintSpec } from '../../../kinds';
import { payloadHash } from '../../objects/payload-hash';
import type { NamedConfigMap } from '../generate/given-files';

/** The text of a blueprint. `field` names the source of the text in messages. */
export type GivenText =
  | { readonly type: 'text'; readonly text: string; readonly field: string }
  /** The ConfigMap or its key does not exist. `message` is a sentence that begins with the field. */
  | { readonly type: 'missing'; readonly message: string }
  | { readonly type: 'invalid'; readonly message: string };

const FIELD = 'spec.configMapRef';

/** Returns the hash of a text and of its source in the spec. */
export const blueprintHash = (text: string, sourceUrl: string | undefined): string =>
  payloadHash({ text, sourceUrl: sourceUrl ?? null });

/** @param configMap the ConfigMap that the spec names; undefined if it does not exist */
export function givenText(
  { hubRef, content = '', configMapRef }: Pick<HubBlueprintSpec, 'hubRef' | 'content' | 'configMapRef'>,
  configMap: NamedConfigMap | undefined,
): GivenText {
  if (!configMapRef) return { type: 'text', text: content, field: 'spec.content' };
  const { name, key } = configMapRef;
  const place = `${FIELD}, key ${key} of the ConfigMap ${name}`;
  if (isConfigMapOfHub(hubRef.name, name) || configMap?.isOfOperator)
    return {
      type: 'invalid',
      message: `${FIELD}: the operator itself writes the ConfigMap ${name}. Name one of your own.`,
    };
  if (!configMap) return { type: 'missing', message: `${FIELD}: there is no ConfigMap ${name}. Create it.` };
  if (Object.hasOwn(configMap.binaryData ?? {}, key))
    return { type: 'invalid', message: `${place}: it is not text (binaryData).` };
  const text = Object.hasOwn(configMap.data ?? {}, key) ? configMap.data?.[key] : undefined;
  if (text === undefined)
    return { type: 'missing', message: `${FIELD}: the ConfigMap ${name} has no key ${key}. Add it.` };
  return { type: 'text', text, field: place };
}

/** Sentences about a text whose parsing exceeded a limit, with the remedy. */
export const tooCostly = (
  field: string,
  { exceeded }: Extract<Bounded<unknown>, { type: 'ended' }>,
): string =>
  `${field} takes more ${exceeded} to read than its length allows. Write its anchors (&), aliases (*) and merges (<<) out, or shorten it.`;

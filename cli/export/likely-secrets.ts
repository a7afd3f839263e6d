import { isObject } from '../../operator/base/is-object';
import { fieldOf, type Path } from '../../operator/offline/field-path';

/** Keys that integrations use for secrets. */
const SECRET_KEY =
  /^(code|pin|pass|pwd|psk)$|(^|[-_])(password|passwd|passphrase|passcode|psk|secret|token|bearer|(api|access|private|local|app|auth|encryption|network|shared)[-_]?key|credentials?|authorization|pin_?code)$/i;

/** Whether a key is one that integrations use for secrets. */
export const isSecretKey = (key: string): boolean => SECRET_KEY.test(key);

/** Patterns of texts that are secrets. */
const SECRET_FORMS: readonly RegExp[] = [
  /\beyJ[\w-]{10,}\.[\w-]{10,}\.[\w-]+/, // a JSON web token
  /\b[a-z][a-z0-9+.-]*:\/\/[^\s/:@{}]+:[^\s/@{}]+@/i, // a login in an address
  /[?&](token|api_?key|access_token|password|secret|key|sig|signature)=[^&\s{}]{6,}/i,
  /-----BEGIN [A-Z ]*PRIVATE KEY-----/,
];

/**
 * Prefixes of secrets, with a test that distinguishes the rest from words: words have no digits, and
 * lower-case names no capitals.
 */
const BEGINNINGS: readonly (readonly [form: RegExp, isSecret: (rest: string) => boolean])[] = [
  [/\bBearer ([\w+/=.-]{12,})/gi, (rest) => /[\d=]/.test(rest)],
  [/\bBasic ([A-Za-z0-9+/]{6,}={0,2})/gi, isLogin],
  [
    /\b(?:gh[opsu]|github_pat|glpat|xox[abps]|AKIA|AIza)[-_]?([A-Za-z0-9_-]{16,})/g,
    (rest) => /\d/.test(rest),
  ],
  [/\b(?:sk|pk|rk)[-_]([A-Za-z0-9_-]{16,})/g, (rest) => /\d/.test(rest) && /[A-Z]/.test(rest)],
];

/** Whether a text is a user name and password in base64. */
function isLogin(text: string): boolean {
  return /^[\x20-\x7e]+:[\x20-\x7e]+$/.test(Buffer.from(text, 'base64').toString('latin1'));
}

/** Whether a text has the form of a secret, or contains such a part. */
export const hasSecret = (text: string): boolean =>
  SECRET_FORMS.some((form) => form.test(text)) ||
  BEGINNINGS.some(([form, isSecret]) => [...text.matchAll(form)].some(([, rest]) => isSecret(rest!)));

const isEntityId = (text: string): boolean => /^[a-z_]+\.[a-z0-9_]+$/.test(text);

/** The paths of values in a resource that look like secrets, such as `spec.actions[0].data.password`. */
export const likelySecrets = (value: unknown, path: Path = []): string[] =>
  fieldsWith(value, path, (part, key) => {
    if (typeof part === 'number') return SECRET_KEY.test(key);
    // An entity id or a template can only refer to a secret.
    if (typeof part !== 'string' || part === '' || isEntityId(part)) return false;
    return (SECRET_KEY.test(key) && !/\{\{|\{%/.test(part)) || hasSecret(part);
  });

/**
 * The paths of webhook ids. A webhook id allows its holder to trigger the automation, but the automation does
 * not work without it.
 */
export const webhookIds = (value: unknown, path: Path = []): string[] =>
  fieldsWith(value, path, (part, key) => key === 'webhook_id' && typeof part === 'string');

function fieldsWith(value: unknown, path: Path, isMeant: (part: unknown, key: string) => boolean): string[] {
  if (Array.isArray(value))
    return value.flatMap((item, index) => fieldsWith(item, [...path, index], isMeant));
  if (isObject(value))
    return Object.entries(value).flatMap(([key, part]) => fieldsWith(part, [...path, key], isMeant));
  return isMeant(value, String(path.at(-1) ?? '')) ? [fieldOf(path)] : [];
}

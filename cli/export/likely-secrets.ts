import { isObject } from '../../operator/base/is-object';
import { fieldOf, type Path } from '../../operator/offline/field-path';

/** Keys whose values are secrets, as integrations name them. */
const SECRET_KEY =
  /^(code|pin)$|(^|_)(password|passwd|passphrase|secret|token|api_?key|access_?key|private_?key|credentials?|authorization|pin_?code)$/i;

/** Texts that are secrets by their form. */
const SECRET_FORMS: readonly RegExp[] = [
  /\beyJ[\w-]{10,}\.[\w-]{10,}\.[\w-]+/, // a JSON web token
  /\b(Bearer|Basic) [\w+/=.-]{12,}/i,
  /\b[a-z][a-z0-9+.-]*:\/\/[^\s/:@{}]+:[^\s/@{}]+@/i, // a login in an address
  /[?&](token|api_?key|access_token|password|secret|key|sig|signature)=[^&\s{}]{6,}/i,
  /-----BEGIN [A-Z ]*PRIVATE KEY-----/,
  /\b(ghp|gho|ghs|github_pat|glpat|xox[abps]|sk|pk|rk|AKIA|AIza)[-_]?[A-Za-z0-9_-]{16,}/,
];

/** A template or a reference has no secret in it. */
const isReference = (text: string): boolean => /\{\{|\{%/.test(text) || /^[a-z_]+\.[a-z0-9_]+$/.test(text);

/** The fields of a resource whose values look like secrets: `spec.actions[0].data.password`. */
export function likelySecrets(value: unknown, path: Path = []): string[] {
  if (Array.isArray(value)) return value.flatMap((item, index) => likelySecrets(item, [...path, index]));
  if (isObject(value))
    return Object.entries(value).flatMap(([key, part]) => likelySecrets(part, [...path, key]));
  const key = String(path.at(-1) ?? '');
  if (typeof value === 'number') return SECRET_KEY.test(key) ? [fieldOf(path)] : [];
  if (typeof value !== 'string' || value === '') return [];
  const isSecret =
    (SECRET_KEY.test(key) && !isReference(value)) || SECRET_FORMS.some((form) => form.test(value));
  return isSecret ? [fieldOf(path)] : [];
}

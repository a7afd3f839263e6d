import type { CategoryScope } from '../../../client/connection/registry-types';
import { type Categories, categoryId } from '../../../client/registries/category-registry';
import { foldCase } from '../../../kinds/ids';
import type { ReferringField } from '../entry-types';
import { valueAt } from '../spec-path';

export interface NamedCategory {
  readonly scope: CategoryScope;
  readonly name: string;
}

/**
 * The ids of the categories that a spec names, by setting, and the categories that the hub does not have yet.
 */
export async function resolveCategories(
  { fields }: { readonly fields: Readonly<Record<string, ReferringField>> },
  spec: Readonly<Record<string, unknown>>,
  entries: (scope: CategoryScope) => Promise<Categories>,
): Promise<{ readonly ids: Readonly<Record<string, string>>; readonly missing: readonly NamedCategory[] }> {
  const ids: Record<string, string> = {};
  const missing: NamedCategory[] = [];
  for (const [field, { category: scope, at = field }] of Object.entries(fields)) {
    const name = valueAt(spec, at);
    if (!scope || typeof name !== 'string') continue;
    const id = categoryId(await entries(scope), name, foldCase);
    if (id === undefined) missing.push({ scope, name });
    else ids[field] = id;
  }
  return { ids, missing };
}

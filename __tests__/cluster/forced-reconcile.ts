import { randomBytes } from 'node:crypto';
import { API_GROUP } from '../../operator/kinds/group';
import { until } from '.';
import type { Home } from './home';

/**
 * Makes the operator reconcile an object in full. Resolves when that reconcile has ended, regardless of its
 * outcome. After that a test can assert that something did not happen.
 */
export async function forceReconcile(home: Home, kind: string, name: string): Promise<void> {
  const request = randomBytes(4).toString('hex');
  await home.annotate(kind, name, `${API_GROUP}/reconcile-requested-at=${request}`);
  await until(
    `${kind} ${name} was reconciled again`,
    async () => (await home.get(kind, name)).status?.['lastHandledReconcileAt'] === request,
  );
}

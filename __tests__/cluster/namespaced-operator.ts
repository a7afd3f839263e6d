import { join } from 'node:path';
import { NAMESPACE, OPERATOR } from '../../manifests/names';
import { readCluster, writeKubeconfig } from '../../sandbox/kubeconfig';
import { freshNamespace, kubeconfig, kubectl, mustKubectl, sandboxDirectory, until } from '.';
import { startTestOperator, type TestOperator } from './operator';
import { readManifests } from '../../manifests/read-manifests';

/**
 * Installs and starts the operator with the rights of the namespaced variant in `dist/`, in its own
 * namespace. The operator has rights only there and in `namespace`. `account` is the user name of its service
 * account.
 */
export async function startNamespacedOperator(
  namespace: string,
): Promise<{ readonly operator: TestOperator; readonly account: string }> {
  const own = await freshNamespace('operator');
  await install('namespaced/install', own, ['--namespace', own]);
  await install('watched-namespace/roles', own, ['--namespace', namespace]);
  const account = `system:serviceaccount:${own}:${OPERATOR}`;
  // The API server applies a binding some time after it was stored. Refusals until then would count as
  // faults.
  await mayDo(account, 'update', 'leases', own);
  await mayDo(account, 'list', 'secrets', namespace);
  const token = await mustKubectl(['create', 'token', OPERATOR, '--duration=24h'], { namespace: own });
  const path = join(sandboxDirectory(), `${own}.kubeconfig`);
  const credentials = { token: token.trim() };
  await writeKubeconfig(path, { ...(await readCluster(kubeconfig())), credentials });
  const operator = await startTestOperator(namespace, {
    kubeconfig: path,
    isRestarted: true,
    // the operator needs the rights in its own namespace for its lease
    settings: { POD_NAMESPACE: own, LEADER_ELECTION: 'true' },
  });
  return { operator, account };
}

function mayDo(account: string, verb: string, resource: string, namespace: string): Promise<true> {
  return until(`${account} may ${verb} ${resource} in ${namespace}`, async () => {
    const answer = await kubectl(['auth', 'can-i', verb, resource, `--as=${account}`], { namespace });
    return answer.stdout.trim() === 'yes';
  });
}

/**
 * Applies the account, roles and bindings of a file of `dist/` with another name for the operator's
 * namespace.
 */
async function install(file: string, own: string, where: readonly string[]): Promise<void> {
  const objects = readManifests(`dist/${file}.yaml`) as { kind: string }[];
  const rights = objects.filter(({ kind }) => ['ServiceAccount', 'Role', 'RoleBinding'].includes(kind));
  const input = JSON.stringify({ apiVersion: 'v1', kind: 'List', items: rights }).replaceAll(
    `"namespace":"${NAMESPACE}"`,
    `"namespace":"${own}"`,
  );
  await mustKubectl(['apply', ...where, '--filename=-'], { input });
}

import { join } from 'node:path';
import { NAMESPACE, OPERATOR } from '../../manifests/names';
import { readCluster, writeKubeconfig } from '../../sandbox/kubeconfig';
import { freshNamespace, kubeconfig, kubectl, mustKubectl, sandboxDirectory, until } from '.';
import { startTestOperator, type TestOperator } from './operator';
import { readManifests } from '../../manifests/read-manifests';

/**
 * The operator with the rights of the namespaced variant in `dist/`, installed into a namespace of its own: it may do
 * nothing outside of that and of `namespace`. `account`: the user name of its service account.
 */
export async function startNamespacedOperator(
  namespace: string,
): Promise<{ readonly operator: TestOperator; readonly account: string }> {
  const own = await freshNamespace('operator');
  await install('namespaced/install', own, ['--namespace', own]);
  await install('watched-namespace/roles', own, ['--namespace', namespace]);
  const account = `system:serviceaccount:${own}:${OPERATOR}`;
  // The API server knows a binding some time after it has stored it, and each refusal until then counts as one.
  await mayDo(account, 'update', 'leases', own);
  await mayDo(account, 'list', 'secrets', namespace);
  const token = await mustKubectl(['create', 'token', OPERATOR, '--duration=24h'], { namespace: own });
  const path = join(sandboxDirectory(), `${own}.kubeconfig`);
  const credentials = { token: token.trim() };
  await writeKubeconfig(path, { ...(await readCluster(kubeconfig())), credentials });
  const operator = await startTestOperator(namespace, {
    kubeconfig: path,
    isRestarted: true,
    settings: { POD_NAMESPACE: own, LEADER_ELECTION: 'true' }, // the rights in its own namespace are for its lease
  });
  return { operator, account };
}

function mayDo(account: string, verb: string, resource: string, namespace: string): Promise<true> {
  return until(`${account} may ${verb} ${resource} in ${namespace}`, async () => {
    const answer = await kubectl(['auth', 'can-i', verb, resource, `--as=${account}`], { namespace });
    return answer.stdout.trim() === 'yes';
  });
}

/** Applies the account, roles and bindings of a file of `dist/`, as if the operator's namespace had this name. */
async function install(file: string, own: string, where: readonly string[]): Promise<void> {
  const objects = readManifests(`dist/${file}.yaml`) as { kind: string }[];
  const rights = objects.filter(({ kind }) => ['ServiceAccount', 'Role', 'RoleBinding'].includes(kind));
  const input = JSON.stringify({ apiVersion: 'v1', kind: 'List', items: rights }).replaceAll(
    `"namespace":"${NAMESPACE}"`,
    `"namespace":"${own}"`,
  );
  await mustKubectl(['apply', ...where, '--filename=-'], { input });
}

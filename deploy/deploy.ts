import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { NAMESPACE, OPERATOR } from '../manifests/names';
import { CommandError, confirm, describeCluster, kubectl, runCommand } from './command';

/** Matches the image in `dist/install.yaml`. */
const IMAGE_FIELD = /(?<=^ +image: )registry\.invalid\/hub-operator:\S+$/m;
const inNamespace = `--namespace=${NAMESPACE}`;

/**
 * `make deploy`: applies `dist/install.yaml` to the cluster of kubectl's current context. Shows the cluster
 * and asks first (`YES=1` answers yes). `IMAGE` replaces the image. Ends when the operator is ready, or fails
 * after `TIMEOUT` seconds and shows the pods and events of the operator's namespace.
 */
async function main(): Promise<void> {
  const timeout = process.env['TIMEOUT'] || '120';
  const shipped = readFileSync(join(__dirname, '..', 'dist', 'install.yaml'), 'utf8');
  const image = process.env['IMAGE'] || IMAGE_FIELD.exec(shipped)![0];
  console.log(`This installs the kinds and the operator into the cluster of kubectl's current context:

${describeCluster()}
  image    ${image}

The nodes of the cluster must be able to pull this image. IMAGE=… names another one.
`);
  await confirm('Nothing was changed.');

  const force = process.env['FORCE'] === '1' ? ['--force-conflicts'] : [];
  const applied = kubectl(
    ['apply', '--server-side', ...force, '--filename=-'],
    shipped.replace(IMAGE_FIELD, () => image),
  );
  if (applied.code !== 0)
    throw new CommandError(
      `Not everything was applied: ${applied.stderr.trim()}\nIf a GitOps tool or Helm installs the operator here, change it there. FORCE=1 takes fields of other managers over.`,
    );
  console.log('Applied. Waiting for the operator …');
  const wait = ['rollout', 'status', `deployment/${OPERATOR}`, inNamespace, `--timeout=${timeout}s`];
  if (kubectl(wait).code !== 0)
    throw new CommandError(`The operator was installed, but is not ready after ${timeout} s.

${kubectl(['get', 'pods,events', inNamespace]).stdout}
When the cause is removed, the rollout continues by itself: kubectl -n ${NAMESPACE} rollout status deployment/${OPERATOR}`);
  console.log('The operator is ready. Next: kubectl apply -f samples/ && kubectl get home -A -o wide');
}

runCommand(main);

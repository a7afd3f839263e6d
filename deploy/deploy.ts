import { NAMESPACE, OPERATOR } from '../manifests/names';
import { confirm } from './confirm';
import { currentCluster, showCluster } from './cluster';
import { untilEstablished } from './established';
import { CommandError, runCommand } from './command-error';
import { Kubectl } from './kubectl';
import { untilRolledOut } from './rollout';
import { seconds } from './seconds';
import { asList, imageOf, isDefinition, type Manifest, shippedManifests, withImage } from './shipped';

/**
 * `make deploy`: installs `dist/`, or updates to it, in the cluster of kubectl's current context, which is shown and
 * confirmed first (`YES=1`). `IMAGE` is used instead of the image that `dist/` names. Ends when the operator is ready, or
 * after `TIMEOUT` seconds with the cause.
 */
async function main(): Promise<void> {
  const timeout = seconds('TIMEOUT', 120);
  const { IMAGE } = process.env;
  const kubectl = new Kubectl();
  const shipped = shippedManifests();
  const image = IMAGE || imageOf(shipped);
  const cluster = await currentCluster(kubectl);
  const present = await presentImage(kubectl);
  console.log(`This installs the kinds and the operator into the cluster of kubectl's current context:

${showCluster(cluster)}
  image    ${image}${present === undefined ? '' : `\n           instead of ${present}`}

The nodes of the cluster must be able to pull this image.${IMAGE ? '' : ' IMAGE=… names another one.'}
`);
  const agreed = await confirm({
    text: 'Go on?',
    variable: 'YES',
    withoutTerminal: `Nothing was changed: there is no terminal to ask whether to install into ${cluster.server}.`,
  });
  if (!agreed) throw new CommandError('Nothing was changed.');

  const manifests = withImage(shipped, image);
  await apply(kubectl, manifests);
  await untilEstablished(
    kubectl,
    manifests.filter(isDefinition).map(({ metadata }) => metadata.name),
  );
  console.log(`Applied ${manifests.length} objects. Waiting for the operator …`);
  await untilRolledOut(kubectl, timeout, (reasons) => console.log(reasons));
  console.log(`
The operator is ready. Next:

  kubectl apply -f samples/                                 a home with a hub and automations
  kubectl get home -A -o wide                               all resources, and what they wait for
  kubectl -n ${NAMESPACE} logs deployment/${OPERATOR}   the log of the operator
  make undeploy                                             removes it, and shows first which data goes`);
}

/** Server-side apply. Fields of other managers are taken over only with `FORCE=1`. */
async function apply(kubectl: Kubectl, manifests: readonly Manifest[]): Promise<void> {
  const force = process.env['FORCE'] === '1' ? ['--force-conflicts'] : [];
  const { stderr, code } = await kubectl.try(['apply', '--server-side', ...force, '--filename=-'], {
    input: asList(manifests),
  });
  if (code === 0) return;
  throw new CommandError(
    `Not everything was applied: ${stderr.trim()}`,
    /conflict/i.test(stderr)
      ? 'If a GitOps tool or Helm installs the operator here, change it there. FORCE=1 takes the fields over.'
      : '',
  );
}

/** The image of the operator that is installed. */
async function presentImage(kubectl: Kubectl): Promise<string | undefined> {
  const found = await kubectl.list<Manifest>(['deployment', OPERATOR, `--namespace=${NAMESPACE}`]);
  return found[0]?.spec?.template?.spec.containers[0]?.image;
}

runCommand(main);

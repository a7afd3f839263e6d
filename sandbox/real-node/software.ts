import { workload } from '../../operator/kinds/hub/workload';
import { builtPrograms, type ControlPlaneProgram } from '../control-plane-programs';
import { goBinary } from '../go-build';
import { goInstalled } from '../go-install';
import { helmProgram } from '../helm';
import { type ProgressMode, type Report, runSteps } from '../progress';
import { errorLine, isOfMachine } from '../sandbox-error';
import { withTimeLimit } from '../time-limit';
import { tether } from '../tether';
import { imageStore } from './containerd';
import { nameServer } from './name-server';
import { DNS_IMAGE, hubImage, type ImageArchive, PAUSE_IMAGE, programImage } from './images';

/** The software that a real node needs beside Debian's packages, built once and kept in the cache. */
export interface NodeSoftware {
  readonly controlPlane: ControlPlaneProgram;
  /** Path of the binary of go/cmd/kube-node. */
  readonly kubeNode: string;
  /** Path of the binary of go/cmd/pause. */
  readonly pause: string;
  /** Folder of containerd, its shim and ctr. */
  readonly containerd: string;
  /** The data of a containerd that has the images of all pods but the operator's. */
  readonly imageStore: string;
}

const CONTAINERD = {
  name: 'containerd',
  title: 'containerd',
  commands: ['containerd', 'containerd-shim-runc-v2', 'ctr'].map(
    (name) => `github.com/containerd/containerd/v2/cmd/${name}`,
  ),
  version: 'v2.2.1',
  tags: ['no_btrfs', 'no_devmapper', 'no_zfs'], // containerd needs only the machine's own file system
};

/**
 * Returns why this machine cannot build or download the software of a node. Undefined means that the software
 * is in the cache, with everything else that the tests on a node build.
 * @param timeout in milliseconds; builds that are complete by then are kept
 * @throws Error the build fails for a reason that does not lie in the machine or its network
 */
export async function whyNoNodeSoftware(mode: ProgressMode, timeout: number): Promise<string | undefined> {
  const provided = provideNodeSoftware(mode)
    .then(() => helmProgram())
    .then(
      () => undefined,
      (error: unknown) => {
        if (isOfMachine(error)) return errorLine(error);
        throw error;
      },
    );
  return withTimeLimit(
    timeout,
    provided,
    () => `its programs and images are not built after ${Math.round(timeout / 60_000)} min`,
  );
}

/**
 * Builds the missing programs. Those in Go are built one after another, since each build uses all processors.
 */
export async function provideNodeSoftware(mode: ProgressMode): Promise<NodeSoftware> {
  await tether(); // the other programs run under tether
  let controlPlane!: ControlPlaneProgram;
  let kubeNode = '';
  let pause = '';
  let containerd = '';
  const images: ImageArchive[] = [];
  const step = (title: string, run: (report: Report) => Promise<void>) => ({ title, run });
  const programs = [
    step('Kubernetes control plane', async (report) => {
      // Built from the module of the node's programs, which is compiled anyway.
      controlPlane = await builtPrograms(report);
    }),
    step('Kubernetes node', async (report) => {
      kubeNode = await goBinary('kube-node', 'the Kubernetes node', report);
    }),
    step('containerd', async (report) => {
      containerd = await goInstalled(CONTAINERD, report);
    }),
    step('CoreDNS', async (report) => {
      images.push(await programImage(DNS_IMAGE, await nameServer(report)));
    }),
    step('Pause image', async (report) => {
      pause = await goBinary('pause', 'the pause image', report);
      images.push(await programImage(PAUSE_IMAGE, pause));
    }),
  ];
  const hub = step("The hub's image", async (report) => {
    images.push(await hubImage(workload.image.default, report));
  });
  await Promise.all([runSteps(programs, mode), runSteps([hub], mode)]);
  let store = '';
  const importing = step('Images', async (report) => {
    store = await imageStore(
      { containerd, pause, images: images.sort((a, b) => a.name.localeCompare(b.name)) },
      report,
    );
  });
  await runSteps([importing], mode);
  return { controlPlane, kubeNode, pause, containerd, imageStore: store };
}

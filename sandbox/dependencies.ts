import { goBinary } from './go-build';
import { type HubSoftware, provideHubSoftware } from './hub-software';
import { type ProgressMode, type Report, runSteps } from './progress';
import { tether } from './tether';

/** What is slow to get, and is there once it was got. */
export interface Dependencies {
  /** The path of the binary of go/cmd/kube. */
  readonly kube: string;
  /** Only when asked for. */
  readonly hubSoftware?: HubSoftware;
}

/** Builds and downloads what the cache does not have: the first waits for the processor, the second for the network. */
export async function ensureDependencies(mode: ProgressMode, hubs: boolean): Promise<Dependencies> {
  // First, since the others need it, and alone, since it tells in a second when there is no Go.
  await tether();
  let kube = '';
  let hubSoftware: HubSoftware | undefined;
  const controlPlane = {
    title: 'Kubernetes control plane',
    run: async (report: Report) => {
      kube = await goBinary('kube', 'the Kubernetes control plane', report);
    },
  };
  const homeAssistant = {
    title: 'Home Assistant',
    run: async (report: Report) => {
      hubSoftware = await provideHubSoftware(report);
      return hubSoftware.version;
    },
  };
  await runSteps(hubs ? [controlPlane, homeAssistant] : [controlPlane], mode, { together: true });
  return { kube, ...(hubSoftware && { hubSoftware }) };
}

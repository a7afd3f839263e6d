import { type ControlPlaneProgram, controlPlanePrograms } from './control-plane-programs';
import { type HubSoftware, provideHubSoftware } from './hub-software';
import { type ProgressMode, type Report, runSteps } from './progress';
import { tether } from './tether';

/** Programs that the sandbox builds or downloads once and keeps in the cache. */
interface Dependencies {
  readonly controlPlane: ControlPlaneProgram;
  /** Set only when hubs were requested. */
  readonly hubSoftware?: HubSoftware;
}

/**
 * Builds and downloads the programs that are missing in the cache, in parallel: builds wait for the CPU, downloads for
 * the network.
 */
export async function ensureDependencies(mode: ProgressMode, hubs: boolean): Promise<Dependencies> {
  // tether comes first: every other program runs under it, and it fails within a second when Go is not
  // installed.
  await tether();
  let programs!: ControlPlaneProgram;
  let hubSoftware: HubSoftware | undefined;
  const controlPlane = {
    title: 'Kubernetes control plane',
    run: async (report: Report) => {
      programs = await controlPlanePrograms(report);
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
  return { controlPlane: programs, ...(hubSoftware && { hubSoftware }) };
}

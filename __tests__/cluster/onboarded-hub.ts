import { HubProcess } from './hub-process';
import { onboardedVolume } from './onboarded-volume';

export interface OnboardedHub {
  readonly hub: HubProcess;
  /** A long-lived token of the owner. */
  readonly token: string;
}

/** Starts a real hub with a volume that was onboarded before. */
export async function startOnboardedHub(): Promise<OnboardedHub> {
  const { directory, token } = await onboardedVolume();
  const hub = await HubProcess.create(directory);
  await hub.start();
  await hub.running(token);
  return { hub, token };
}

import { isOtherVersion } from '../../../base/hub-version';
import type { Hub, HubSpec } from '../../../kinds';
import type { Services } from '../../services';
import { hubImageOf, isOutdatedPod, isReadyPod, podOf } from '../../hub-pod/owned-objects';
import type { Authenticated, HubContext, HubStep } from '../steps';
import { imageOf } from './pod-template';

/**
 * Reports that the hub runs another version than `spec.version`. Possible causes: its image contains another
 * version than the tag says, `spec.podTemplate` has its own image, or the cluster has changed the image of
 * the pod. While a pod is about to be replaced nothing is reported, since the hub still runs the former
 * image.
 */
export function checkRunningVersion(services: Pick<Services, 'cache'>): HubStep<HubContext & Authenticated> {
  return {
    name: 'version',
    run({ hub, spec, core: { version }, notices, ...context }) {
      const notice = isOtherVersion(spec.version, version)
        ? causeOf(services, hub, spec, { version, workload: context.workload })
        : undefined;
      if (notice !== undefined)
        notices.push(`The hub is Home Assistant ${version}, and spec.version is ${spec.version}: ${notice}`);
      return Promise.resolve({});
    },
  };
}

interface Running {
  readonly version: string;
  readonly workload: HubContext['workload'];
}

function causeOf(
  services: Pick<Services, 'cache'>,
  hub: Hub,
  spec: HubSpec,
  { version, workload }: Running,
): string | undefined {
  const pod = podOf(services, hub);
  if (!pod || !workload || !isReadyPod(pod) || isOutdatedPod(pod, workload)) return undefined;
  const [runs, asked] = [pod.spec, workload.spec.template.spec].map(hubImageOf);
  const orVersion = `or set spec.version to ${version}.`;
  if (runs !== asked)
    return `the pod has the image ${runs} in the place of ${asked}, which a policy of the cluster has changed. Exempt the pod from it, ${orVersion}`;
  if (asked !== imageOf(spec))
    return `spec.podTemplate gives the hub the image ${asked}. Correct it there, ${orVersion}`;
  return `the image ${asked} holds another version than its tag names. Correct spec.image, ${orVersion}`;
}

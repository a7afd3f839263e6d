import { setTimeout as sleep } from 'node:timers/promises';
import { Cluster } from '../cli/cluster';
import { GROUP_VERSION } from '../operator/kinds/group';
import type { CustomResource } from '../operator/kinds/resource';
import type { ApiClient } from '../operator/runtime/api-client';
import { pathOf } from '../operator/runtime/objects';
import type { Sandbox } from '../sandbox';
import { freePort } from '../sandbox/ports';
import type { SandboxProcess } from '../sandbox/process';
import { automationParts } from './automation-spec';
import { ExternalHubs } from './external-hubs';
import { typeOf } from './resource-type';
import { startStandIn } from './start-stand-in';

export const NAMESPACE = 'bench';
const CREATES_AT_ONCE = 40;

export const automations = typeOf('HubAutomation');

/** Settings of an operator that works on the stand-in hubs of {@link AutomationLoad}. */
export const LOAD_SETTINGS = { ALLOW_LOCAL_HUBS: 'true' };

/**
 * Automations `automation-0`, … of about 1 KB each, spread over lightweight stand-ins of hubs (stand-in.mjs).
 * The automations have finalizers, Secrets, WebSockets and objects in a hub, as all automations do. Real hubs
 * would take hours to write thousands.
 */
export class AutomationLoad {
  private constructor(
    private readonly cluster: ApiClient,
    private readonly hubCount: number,
    private readonly standIns: readonly SandboxProcess[],
  ) {}

  /** Starts the stand-in hubs, which end with this process. */
  static async start(sandbox: Sandbox, cluster: ApiClient, hubCount: number): Promise<AutomationLoad> {
    const hubs = new ExternalHubs(cluster, NAMESPACE);
    await hubs.createNamespace();
    const standIns: SandboxProcess[] = [];
    for (let index = 0; index < hubCount; index++) {
      const name = `hub-${index}`;
      const port = await freePort();
      standIns.push(await startStandIn(sandbox, name, port));
      await hubs.add(name, `http://127.0.0.1:${port}`);
    }
    return new AutomationLoad(cluster, hubCount, standIns);
  }

  async stop(): Promise<void> {
    await Promise.all(this.standIns.map((standIn) => standIn.stop()));
  }

  async createMany(count: number): Promise<void> {
    let next = 0;
    const create = async () => {
      for (let index = next++; index < count; index = next++) await this.create(index);
    };
    await Promise.all(Array.from({ length: CREATES_AT_ONCE }, create));
  }

  async create(index: number): Promise<void> {
    const metadata = { name: `automation-${index}`, namespace: NAMESPACE };
    const spec = { hubRef: { name: `hub-${index % this.hubCount}` }, ...automation(index) };
    const path = pathOf(automations, NAMESPACE);
    await this.cluster.request({
      method: 'POST',
      path,
      body: { apiVersion: GROUP_VERSION, kind: automations.kind, metadata, spec },
    });
  }

  /** Changes an automation. Resolves with its new generation. */
  async change(index: number, edit: number): Promise<number> {
    const { metadata } = await this.cluster.request<CustomResource>({
      method: 'PATCH',
      path: pathOf(automations, NAMESPACE, `automation-${index}`),
      contentType: 'application/merge-patch+json',
      body: { spec: { description: `Edit ${edit}` } },
    });
    return metadata.generation;
  }

  async delete(index: number): Promise<void> {
    const path = pathOf(automations, NAMESPACE, `automation-${index}`);
    await this.cluster.request({ method: 'DELETE', path });
  }

  list(): Promise<readonly CustomResource[]> {
    return new Cluster(this.cluster, NAMESPACE).list(automations);
  }

  read(index: number): Promise<CustomResource> {
    const path = pathOf(automations, NAMESPACE, `automation-${index}`);
    return this.cluster.request<CustomResource>({ method: 'GET', path });
  }

  /**
   * Resolves when all automations are Ready, with the time at which the last one became Ready (in
   * milliseconds, to the second). Rejects after `timeout` milliseconds.
   */
  async untilReady(timeout: number): Promise<number> {
    for (const deadline = Date.now() + timeout; ;) {
      const began = Date.now();
      const all = await this.list();
      const waiting = all.filter((item) => !isSettled(item));
      if (waiting.length === 0) return Math.max(...all.map(readyAt));
      if (Date.now() > deadline) throw new Error(`${waiting.length} automations are not Ready`);
      // The polls have pauses: a list of thousands takes a processor for seconds, which would distort the
      // operator's figures.
      await sleep(Math.max(1_000, 10 * (Date.now() - began)));
    }
  }
}

const readyOf = ({ status }: CustomResource) => status?.conditions?.find(({ type }) => type === 'Ready');

const readyAt = (resource: CustomResource): number => Date.parse(readyOf(resource)!.lastTransitionTime);

/** Whether a resource is Ready for its current generation. */
export function isSettled(resource: CustomResource): boolean {
  const { metadata } = resource;
  const ready = readyOf(resource);
  return ready?.status === 'True' && ready.observedGeneration === metadata.generation;
}

const automation = (index: number) => ({
  ...automationParts(index),
  description: `Switches the light when a person comes in, and reports it; one of very many that are all alike. ${'.'.repeat(300)}`,
});

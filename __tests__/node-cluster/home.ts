import { systemClock } from '../../operator/base/clock';
import { HubClient } from '../../operator/client/hub-client';
import { createNamespace, kubectl, mustKubectl } from '../cluster';
import { Home } from '../cluster/home';
import { silentLog } from '../cluster/silent-log';
import { portForward } from './port-forward';

const homes: NodeHome[] = [];
const clients: HubClient[] = [];

afterAll(async () => {
  for (const client of clients.splice(0)) client.close();
  // Namespaces are deleted, because a hub uses memory that the next test file needs, and without its grace
  // period, because no data in it matters. There are no hubs where a test has removed the kinds.
  for (const { namespace } of homes.splice(0)) {
    await mustKubectl(['delete', 'namespace', namespace, '--wait=false', '--ignore-not-found']);
    await kubectl(['delete', 'hubs', '--all', '--wait=false', '--ignore-not-found'], { namespace });
    await kubectl(['delete', 'pods', '--all', '--grace-period=1', '--wait=false'], { namespace });
  }
});

/** A namespace whose hubs run as containers on the real node. */
export class NodeHome extends Home {
  static async make(prefix: string): Promise<NodeHome> {
    const home = new NodeHome(await createNamespace(prefix));
    homes.push(home);
    return home;
  }

  /**
   * The address of the hub inside the cluster cannot be reached from this machine, so the client uses a
   * port-forward to its pod.
   */
  override async client(hubName: string): Promise<HubClient> {
    const url = await portForward(this.namespace, `pod/${hubName}-0`, 8123);
    const token = await this.secret(`${hubName}-api-token`, 'token');
    const client = new HubClient({ url, token, clock: systemClock, log: silentLog });
    clients.push(client);
    return client;
  }

  /** Runs a command in the hub's container; returns its standard output. */
  inHub(hubName: string, ...command: string[]): Promise<string> {
    return mustKubectl(['exec', `${hubName}-0`, '--container=hub', '--', ...command], {
      namespace: this.namespace,
    });
  }
}

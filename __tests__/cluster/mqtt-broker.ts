import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { freePort } from '../../sandbox/ports';

interface BrokerLogin {
  readonly user: string;
  readonly password: string;
}

/**
 * An MQTT broker on this machine, as a separate process. It ends with the test file, even when jest is
 * killed.
 */
export class MqttBroker {
  private running: ChildProcess | undefined;

  constructor(readonly port: number) {
    brokers.push(this);
  }

  /** Creates a broker that does not run yet. */
  static async create(): Promise<MqttBroker> {
    return new MqttBroker(await freePort());
  }

  /** Starts the broker. Resolves when it listens. Without a login, every client may connect. */
  async start(login?: BrokerLogin): Promise<void> {
    const args = [join(__dirname, 'mqtt-broker-process.mjs'), String(this.port)];
    const child = spawn(process.execPath, [...args, ...(login ? [login.user, login.password] : [])], {
      stdio: ['pipe', 'pipe', 'inherit'],
    });
    this.running = child;
    await once(child.stdout, 'data');
  }

  async stop(): Promise<void> {
    const { running } = this;
    this.running = undefined;
    if (!running || running.exitCode !== null) return;
    running.kill('SIGKILL');
    await once(running, 'exit');
  }
}

const brokers: MqttBroker[] = [];

afterAll(async () => {
  for (const broker of brokers.splice(0)) await broker.stop();
});

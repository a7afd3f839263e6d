import { until } from '.';
import { ApiProxy, type Crossing } from './api-proxy';
import { configuration, type Home, hub } from './home';
import type { HubRecorder } from './hub-recorder';
import { restoreOnboarded } from './onboarded-volume';
import { startTestOperator, type TestOperator } from './operator';
import { recorderOf, throughRecorders } from './recorded-hub';

/** The requests at which an operator can be killed. */
interface Points {
  /** Parts of the paths of the resources whose requests to the API server are points. */
  readonly resources: readonly string[];
  /** The name of the point for a write of the status. Other writes are named by their method. */
  readonly statusPoint: (status: Readonly<Record<string, unknown>>) => string;
  /** Reports whether a command of the WebSocket is a point, which has the name of the command. */
  readonly isPoint: (command: string) => boolean;
}

/**
 * A hub and its operator, between proxies for the API server and for the hub. A test kills the operator with
 * `kill -9` at exactly one request to either of them.
 */
export class OperatorToKill {
  operator!: TestOperator;
  /** Records the requests and commands that the operator sends to the hub. */
  recorder!: HubRecorder;
  private proxy!: ApiProxy;
  /**
   * The request at which the operator is killed next: the last of `left` requests with this name, before or
   * after it is sent. Undefined for no kill.
   */
  private point: { readonly at: string; readonly isSent: boolean; left: number } | undefined;
  /** From the kill of the operator until its restart, the proxies drop all requests. */
  private struck = false;
  private killed = false;

  private constructor(private readonly points: Points) {}

  /**
   * Starts the operator, and applies a hub that was onboarded before.
   *
   * @param text configuration of the hub
   */
  static async start(home: Home, hubName: string, text: string, points: Points): Promise<OperatorToKill> {
    const started = new OperatorToKill(points);
    await started.run(home, hubName, text);
    return started;
  }

  private async run(home: Home, hubName: string, text: string): Promise<void> {
    this.proxy = await ApiProxy.start(async (moment, crossing) => {
      const name = this.nameOf(crossing);
      if (name !== undefined) return this.strike(name, moment === 'after');
      return this.struck ? 'drop' : 'on';
    });
    this.operator = await startTestOperator(home.namespace, {
      kubeconfig: this.proxy.kubeconfig,
      settings: throughRecorders,
    });
    await restoreOnboarded(home, hubName);
    await home.apply(hub(hubName), configuration(hubName, text));
    const { isPoint } = this.points;
    this.recorder = await recorderOf(home, hubName, (recorder) => {
      recorder.admit = async (command) => !isPoint(command) || (await this.strike(command, false)) === 'on';
      recorder.admitted = async (command) => void (isPoint(command) && (await this.strike(command, true)));
    });
    await home.ready('hubconfiguration', hubName);
  }

  /**
   * Does something, waits until the operator is killed at this request, and starts it again.
   *
   * @param isSent whether the operator is killed after or before the request is sent
   * @param left number of requests with this name until the kill
   */
  async killAt(at: string, isSent: boolean, work: () => Promise<void>, left = 1): Promise<void> {
    this.point = { at, isSent, left };
    await work();
    await until(`the operator is struck at ${at}`, () => Promise.resolve(this.killed));
    this.point = undefined;
    this.struck = this.killed = false;
    await this.operator.start();
  }

  async stop(): Promise<void> {
    this.proxy.stop();
    await this.recorder.stop();
  }

  private nameOf({ method, path, body }: Crossing): string | undefined {
    if (!this.points.resources.some((each) => path.includes(each))) return undefined;
    if (!path.endsWith('/status')) return method === 'GET' ? undefined : `${method} resource`;
    return this.points.statusPoint((body as { status?: Record<string, unknown> }).status ?? {});
  }

  /**
   * Kills the operator if this request to the API server, or this command to the hub, is the chosen point.
   * Called before and after each of them.
   */
  private async strike(at: string, isSent: boolean): Promise<'on' | 'drop'> {
    if (this.struck) return 'drop';
    const { point } = this;
    if (point?.at !== at || point.isSent !== isSent || --point.left > 0) return 'on';
    this.struck = true;
    await this.operator.kill();
    this.killed = true;
    return 'drop';
  }
}

import { until } from '../cluster';
import { configuration, hub } from '../cluster/home';
import { install, operatorPods, podsOf, processOf } from '../node-cluster';
import { NodeHome } from '../node-cluster/home';
import { askUnsteady, lightHub, unsteady } from '../node-cluster/light-hub';
import { wrongLoginFrom } from '../node-cluster/wrong-login';

// Tests that take many minutes and run only with LONG=1.

const describeLong = process.env['LONG'] === '1' ? describe : describe.skip;

/** In milliseconds. */
const LONG_TIMEOUT = 2_400_000;
const STATE_TIMEOUT = 900_000;

/** Seconds before the program listens: longer than any probe of the pod allows, except the startup probe. */
const SLOW_START = 300;
/** Seconds that the program is down in its container: longer than the liveness probe allows a hub to hang. */
const DOWN = 600;
/** Seconds that the program needs to end: less than the grace period of 240. */
const SLOW_END = 200;
/** The least time between two restarts for a ban, in milliseconds. */
const COOLDOWN = 300_000;

const slowStart = `
import http.server, os, signal, time
signal.signal(signal.SIGTERM, lambda *_: os._exit(0))
time.sleep(${SLOW_START})
http.server.ThreadingHTTPServer(("", 8123), http.server.SimpleHTTPRequestHandler).serve_forever()
`;
const slowEnd = `
import http.server, os, signal, threading, time

def end(*_):
    time.sleep(${SLOW_END})
    open("/config/closed", "a").write("closed\\n")
    os._exit(0)

signal.signal(signal.SIGTERM, lambda *_: threading.Thread(target=end).start())
http.server.ThreadingHTTPServer(("", 8123), http.server.SimpleHTTPRequestHandler).serve_forever()
`;

const BANS = 'http:\n  login_attempts_threshold: 2\n  ip_ban_enabled: true\n';

/** @param value of a variable whose change replaces the pod */
const calm = (value: string) =>
  lightHub('calm', {}, { command: ['python3', '-c', slowEnd], env: [{ name: 'VARIABLE', value }] });

let home: NodeHome;

const podOf = async (name: string) =>
  (await podsOf(home.namespace)).find(({ metadata }) => metadata.name === `${name}-0`);

const isReady = (name: string) =>
  until(
    `the pod of ${name} is ready`,
    async () => {
      const pod = await podOf(name);
      return pod?.status.containerStatuses?.every(({ ready }) => ready) && pod;
    },
    STATE_TIMEOUT,
  );

describeLong('a hub on a real node, for many minutes (skipped without LONG=1)', () => {
  beforeAll(async () => {
    await install();
    home = await NodeHome.make('long');
    // The hubs run at the same time, since the tests mostly wait.
    await home.apply(configuration('slow'), lightHub('slow', {}, { command: ['python3', '-c', slowStart] }));
    await home.apply(configuration('restoring'), lightHub('restoring', {}, { command: unsteady(DOWN) }));
    await home.apply(configuration('calm'), calm('one'));
    await home.apply(configuration('strict', BANS), hub('strict'));
  });

  test(
    'that needs most of its grace period to end has it, before another pod takes its volume',
    async () => {
      const { metadata } = await isReady('calm');
      await home.apply(calm('two'));
      await until(
        'the pod is replaced',
        async () => {
          const pod = await podOf('calm');
          return pod !== undefined && pod.metadata.uid !== metadata.uid;
        },
        STATE_TIMEOUT,
      );
      await isReady('calm');
      expect(await home.inHub('calm', 'cat', '/config/closed')).toBe('closed\n');
    },
    LONG_TIMEOUT,
  );

  test(
    'whose first start takes five minutes is not killed by a probe',
    async () => {
      const { status } = await isReady('slow');
      expect(status.containerStatuses).toMatchObject([{ restartCount: 0 }]);
    },
    LONG_TIMEOUT,
  );

  test(
    'that is down for ten minutes in its container, as while it restores a backup, is not ended',
    async () => {
      await isReady('restoring');
      await askUnsteady(home, 'restoring', '/down');
      await until('it is down', async () =>
        (await podOf('restoring'))?.status.containerStatuses?.some(({ ready }) => !ready),
      );
      const { status } = await isReady('restoring');
      expect(status.containerStatuses).toMatchObject([{ restartCount: 0 }]);
    },
    LONG_TIMEOUT,
  );

  test(
    'that bans the operator three times lets it in three times, five minutes apart',
    async () => {
      await home.ready('hub', 'strict', {}, STATE_TIMEOUT);
      const url = `http://${String((await home.get('service', 'strict')).spec['clusterIP'])}:8123/api/config`;
      const status = async () => (await home.get('hub', 'strict')).status!;
      let last: number | undefined;
      for (const count of [1, 2, 3]) {
        const pid = await processOf((await operatorPods())[0]!);
        await until('the operator is banned', async () => {
          // The operator may have noticed the ban, and the hub may already be restarting, before the next
          // wrong password is sent.
          return (await status())['selfUnbanCount'] === count || (await wrongLoginFrom(pid, url)) === 403;
        });
        await until(
          `restart ${count} has lifted the ban`,
          async () =>
            (await status())['selfUnbanCount'] === count &&
            (await home.condition('hub', 'strict'))?.status === 'True',
          STATE_TIMEOUT,
        );
        const at = Date.parse(String((await status())['lastSelfUnban']));
        if (last !== undefined) expect(at - last).toBeGreaterThanOrEqual(COOLDOWN);
        last = at;
      }
    },
    LONG_TIMEOUT,
  );
});

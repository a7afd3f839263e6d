import type { ServerResponse } from 'node:http';
import { TokenRejected } from '../../../../../operator/client/connection/errors';
import type { HubClient } from '../../../../../operator/client/hub-client';
import { userAnnotations } from '../../../../../operator/kinds/annotations';
import type { Hub } from '../../../../../operator/kinds/index';
import { RESYNC } from '../../../../../operator/base/limits';
import type { ClusterObject } from '../../../../../operator/runtime/objects';
import { HubClients } from '../../../../../operator/sync/hub-connection/hub-clients';
import { Connector } from '../../../../../operator/sync/hub/access/connect';
import { isOutcome } from '../../../../../operator/sync/hub/steps';
import type { Services } from '../../../../../operator/sync/services';
import { type Answer, FakeHub, json, type Request, text } from '../../../client/fake-hub';
import { ManualClock } from '../../../manual-clock';
import { aHub, aHubContext, services, uncheckedClaim } from '../../fixtures';

// A hub counts failed logins until it is restarted, and bans their address after a few of them.

const HOUR = 3_600_000;
/** Number of children that write to the hub while their Hub is connected. */
const CHILDREN = 3;
/** Minimum interval between reconciles in this test, in milliseconds. */
const MIN_DELAY = 300_000;
/** Number of restarts of the operator within the day. */
const RESTARTS = 4;

/** A clock that stands still, and does not wait for the pause between two requests. */
class ImpatientClock extends ManualClock {
  override sleep(): Promise<void> {
    return Promise.resolve();
  }
}

let server: FakeHub;
let clock: ManualClock;
let hub: Hub;
let secret: Record<string, string>;
let failedLogins: number;
let isAdmin: boolean;

beforeEach(async () => {
  server = await FakeHub.start();
  clock = new ImpatientClock();
  hub = aHub({ status: { bootstrap: { state: 'Done' } } });
  secret = { token: 'good-token', username: 'ada', password: 'right' };
  isAdmin = true;
  failedLogins = 0;
  const config = { version: '2026.11.0', state: 'RUNNING', config_source: 'storage', unit_system: {} };
  const form = { type: 'form', flow_id: 'f1', step_id: 'init' };
  const tokens = { access_token: server.token, refresh_token: 'r' };
  const authorized =
    (answer: Answer): Answer =>
    (request, response) => {
      const accepted = request.headers.authorization === `Bearer ${server.token}`;
      (accepted ? answer : failed(text(401, '401: Unauthorized')))(request, response);
    };
  server.routes.set('GET /api/config', authorized(json(200, config)));
  server.routes.set(
    'POST /api/config/automation/config/a',
    authorized((request, response) =>
      (isAdmin ? json(200, { result: 'ok' }) : failed(text(401, '401: Unauthorized')))(request, response),
    ),
  );
  server.routes.set('POST /auth/login_flow', json(200, form));
  server.routes.set('POST /auth/login_flow/f1', (request, response) => {
    const { password } = JSON.parse(request.body) as { password: string };
    const right = json(200, { type: 'create_entry', flow_id: 'f1', result: 'code' });
    (password === 'right' ? right : failed(json(200, { ...form, errors: { base: 'invalid_auth' } })))(
      request,
      response,
    );
  });
  server.routes.set('DELETE /auth/login_flow/f1', json(200, {}));
  server.routes.set('POST /auth/token', json(200, tokens));
  server.routes.set('POST /auth/revoke', json(200, {}));
  server.onCommand = ({ message, succeed }) =>
    succeed(message.type === 'auth/current_user' ? { id: 'ada', name: 'Ada', is_admin: isAdmin } : []);
});
afterEach(() => server.close());

const failed =
  (answer: Answer) =>
  (request: Request, response: ServerResponse): void => {
    failedLogins++;
    answer(request, response);
  };

/** Creates the part of the operator that talks to the hub, with an empty memory. */
function startOperator() {
  const objects: Record<string, ClusterObject> = {
    Pod: {
      metadata: { name: 'villa-0' },
      status: { conditions: [{ type: 'Ready', status: 'True' }] },
    } as ClusterObject,
    Secret: { metadata: { name: 'any', uid: 'uid-of-secret' } },
    Hub: hub,
  };
  const given: Services = services({
    clock,
    cache: { get: (kind: string) => objects[kind] as never },
    applier: { isOurs: () => false, dryRun: () => Promise.resolve(undefined as never) },
    cluster: {},
    secrets: { get: () => Promise.resolve(new Map(Object.entries(secret))) },
  });
  const hubs = new HubClients(given);
  return { hubs, connector: new Connector(given, hubs, { occupation: () => Promise.resolve(undefined) }) };
}

/**
 * Reconciles the Hub for 24 hours, and calls back after each reconcile. Its children write whenever it is
 * connected.
 */
async function day(afterEachTime: () => void = () => undefined): Promise<void> {
  let { hubs, connector } = startOperator();
  let nextRestart = 24 / (RESTARTS + 1);
  for (let elapsed = 0; elapsed < 24 * HOUR;) {
    if (elapsed > nextRestart * HOUR) {
      nextRestart += 24 / (RESTARTS + 1);
      hubs.close();
      ({ hubs, connector } = startOperator());
    }
    const context = { ...aHubContext(hub), ...uncheckedClaim, url: server.url };
    const result = await connector.connect(context);
    const wasRejected = !isOutcome(result) && (await writeChildren(result.client));
    const { status, after } = isOutcome(result) ? result : { status: undefined, after: undefined };
    afterEachTime();
    hub = { ...hub, status: { ...hub.status, ...context.status, ...status } };
    // A child whose token is rejected requeues its Hub.
    const delay = wasRejected ? 1_000 : Math.max(after ?? RESYNC, MIN_DELAY);
    clock.freeze(delay);
    elapsed += delay;
  }
  hubs.close();
}

/** Resolves with whether the hub has rejected the token. */
async function writeChildren({ rest }: HubClient): Promise<boolean> {
  const writes = Array.from({ length: CHILDREN }, () => rest.post('/api/config/automation/config/a'));
  const results = await Promise.allSettled(writes);
  return results.some((result) => result.status === 'rejected' && result.reason instanceof TokenRejected);
}

describe('Connector over 24 hours', () => {
  test('sends credentials that the hub rejects in one login, even when the operator restarts', async () => {
    secret = { username: 'ada', password: 'wrong' };
    hub = aHub({ status: { bootstrap: { state: 'CreateAPIToken' } } });
    server.routes.set('GET /api/onboarding', json(404, {}));
    await day();
    expect(hub.status?.bootstrap?.message).toMatch(/correct the Secret/);
    // A login has two attempts.
    expect(failedLogins).toBe(2);
  });

  test('writes once with the token of a user who loses the role of an administrator', async () => {
    hub = aHub({ spec: { bootstrap: { enabled: false } } });
    await day(() => (isAdmin = false));
    // Each child has one failed request at the moment of the loss.
    expect(failedLogins).toBe(CHILDREN);
  });

  test('sends a rejected token again when a full reconcile is requested, once for each request', async () => {
    hub = aHub({ spec: { bootstrap: { enabled: false } } });
    const { hubs, connector } = startOperator();
    const reconcile = async (request?: string) => {
      const annotations = request ? { [userAnnotations.reconcileAt]: request } : {};
      const asked = { ...hub, metadata: { ...hub.metadata, annotations } };
      const forced = request !== undefined;
      const context = { ...aHubContext(asked, { forced }), ...uncheckedClaim, url: server.url };
      const result = await connector.connect(context);
      return isOutcome(result) ? result.reason : 'connected';
    };
    const answer = server.routes.get('GET /api/config')!;
    server.routes.set('GET /api/config', failed(text(401, '401: Unauthorized')));
    expect(await reconcile()).toBe('TokenRejected');
    expect(await reconcile('first')).toBe('TokenRejected');
    expect(await reconcile('first')).toBe('TokenRejected');
    expect(failedLogins).toBe(2);
    server.routes.set('GET /api/config', answer);
    expect(await reconcile()).toBe('TokenRejected');
    expect(await reconcile('second')).toBe('connected');
    hubs.close();
  });
});

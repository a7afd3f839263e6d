import { X509Certificate } from 'node:crypto';
import { once } from 'node:events';
import { request as httpsRequest } from 'node:https';
import { text } from 'node:stream/consumers';
import { connect } from 'node:tls';
import { WEBHOOK } from '../../../operator/kinds/object-names';
import { issueCertificate } from '../../../operator/webhook/certificate/issue';
import { freePorts } from '../../../sandbox/ports';
import { installWebhook, webhookSettings } from '../../../sandbox/webhook';
import {
  clusterAccess,
  freshNamespace,
  kubectl,
  type KubectlResult,
  mustKubectl,
  until,
} from '../../cluster';
import { outliveCreation } from '../../cluster/creation-time';
import { deleteObject, getObject, patchObject, Refused } from '../../cluster/api';
import {
  automation,
  configuration,
  Home,
  type Manifest,
  scene,
  script,
  type Stored,
} from '../../cluster/home';
import { startTestOperator, type TestOperator } from '../../cluster/operator';

// The registration, the Secret and the roles are those of dist/, so no other test file may use them.

const HOST = '127.0.0.1';
const OPERATOR_NAMESPACE = 'hub-operator';
const REGISTRATION = 'validatingwebhookconfiguration';

let home: Home;
let namespace: string;
let ports: [number, number];
let leader: TestOperator;
let standby: TestOperator;

const register = (port: number) => installWebhook(clusterAccess(), port, namespace);
const operator = (port: number, POD_NAME: string) =>
  startTestOperator(namespace, { settings: { ...webhookSettings(port), POD_NAME }, isRestarted: true });

beforeAll(async () => {
  namespace = await freshNamespace('webhook');
  home = new Home(namespace);
  ports = (await freePorts(2)) as [number, number];
  await mustKubectl(['delete', 'secret', WEBHOOK.secret, '--ignore-not-found'], {
    namespace: OPERATOR_NAMESPACE,
  });
  await register(ports[0]);
  leader = await operator(ports[0], 'first');
  await until('the first replica is the leader', async () => (await leader.log()).includes('became leader'));
  standby = await operator(ports[1], 'second');
  await isCalled();
});

afterAll(async () => {
  await mustKubectl(['delete', REGISTRATION, WEBHOOK.configuration, '--ignore-not-found']);
  await mustKubectl(['delete', 'secret', WEBHOOK.secret, '--ignore-not-found'], {
    namespace: OPERATOR_NAMESPACE,
  });
});

const unquoted = (name: string, alias = 'Unquoted') =>
  automation('villa', name, {
    alias,
    triggers: [{ trigger: 'state', entity_id: 'light.sofa', to: true }],
  });

/** Resolves when the API server calls the webhook. */
function isCalled(): Promise<true> {
  return until('the API server calls the webhook', async () => {
    const { stderr } = await apply(unquoted('probe'), '--dry-run=server');
    return stderr.includes('Warning: spec.triggers[0].to is the boolean true');
  });
}

function apply(manifest: Manifest, ...flags: readonly string[]) {
  return kubectl(['apply', '--server-side', '-f', '-', ...flags], {
    namespace,
    input: JSON.stringify(manifest),
  });
}

/**
 * Returns the answer of the API server to an apply that the webhook refuses or warns of. On a busy machine
 * the webhook may miss the timeout of its registration, and the API server admits the object silently. Then
 * the apply is repeated.
 * @param make returns the object of an attempt, with another spec each time, because an unchanged object gets
 * no warning
 */
function answered(
  make: (attempt: string) => Manifest | string,
  isHeard: (answer: KubectlResult) => boolean,
  ...flags: readonly string[]
): Promise<KubectlResult> {
  let attempts = 0;
  return until('the webhook is heard', async () => {
    const manifest = make(`Attempt ${++attempts}`);
    const input = typeof manifest === 'string' ? manifest : JSON.stringify(manifest);
    const answer = await kubectl(['apply', '--server-side', '-f', '-', ...flags], { namespace, input });
    return isHeard(answer) && answer;
  });
}

const isWarned = ({ stderr }: KubectlResult) => stderr.startsWith('Warning:');

/** Returns why the API server refused the object, or undefined when it was admitted. */
async function refusal(work: Promise<unknown>): Promise<string | undefined> {
  try {
    await work;
    return undefined;
  } catch (error) {
    if (error instanceof Refused) return error.message;
    throw error;
  }
}

const patchAsOperator = (change: object) =>
  kubectl([
    'patch', REGISTRATION, WEBHOOK.configuration, '--dry-run=server', '--type=merge',
    `--patch=${JSON.stringify(change)}`,
    `--as=system:serviceaccount:${OPERATOR_NAMESPACE}:${OPERATOR_NAMESPACE}`,
  ]); // prettier-ignore

const trustedAuthorities = async (): Promise<string> => {
  const { webhooks } = (await getObject(REGISTRATION, '', WEBHOOK.configuration)) as {
    webhooks: [{ clientConfig: { caBundle?: string } }];
  };
  return Buffer.from(webhooks[0].clientConfig.caBundle ?? '', 'base64').toString('utf8');
};

/** Returns the fingerprint of the certificate in the Secret, or undefined when the Secret has none. */
async function storedCertificate(): Promise<string | undefined> {
  const { data } = (await getObject('secret', OPERATOR_NAMESPACE, WEBHOOK.secret)) as Stored;
  const pem = Buffer.from(data?.['tls.crt'] ?? '', 'base64');
  return pem.includes('BEGIN') ? new X509Certificate(pem).fingerprint256 : undefined;
}

/**
 * Returns the fingerprint of the certificate that a replica serves.
 * @throws Error the certificate is not trusted, or not valid
 */
async function servedCertificate(port: number): Promise<string> {
  const socket = connect({ host: HOST, port, ca: await trustedAuthorities() });
  try {
    await once(socket, 'secureConnect');
    return socket.getPeerCertificate().fingerprint256;
  } finally {
    socket.destroy();
  }
}

/**
 * Sends a review to a replica as the API server does.
 * @throws Error the certificate of the replica is not trusted
 */
async function review(port: number, object: Manifest): Promise<{ allowed: boolean }> {
  const ca = await trustedAuthorities();
  const { apiVersion, kind, metadata } = object;
  const body = JSON.stringify({
    apiVersion: 'admission.k8s.io/v1',
    kind: 'AdmissionReview',
    request: {
      uid: '1',
      kind: { group: apiVersion.split('/')[0], kind },
      operation: 'CREATE',
      object: { ...object, metadata: { ...metadata, namespace } },
    },
  });
  return new Promise((resolve, reject) => {
    const options = { host: HOST, port, path: WEBHOOK.path, method: 'POST', ca, agent: false as const };
    httpsRequest(options, (response) => {
      text(response).then(
        (answer) => resolve((JSON.parse(answer) as { response: { allowed: boolean } }).response),
        reject,
      );
    })
      .on('error', reject)
      .end(body);
  });
}

describe('webhook', () => {
  describe('a duplicate id', () => {
    test.each([
      ['HubAutomation', automation],
      ['HubScene', scene],
      ['HubScript', script],
    ])('of a %s is refused with the field, the other resource and the remedy', async (kind, make) => {
      await home.apply(make('villa', 'first', { id: 'porch' }));
      await untilSeen(make('villa', 'second', { id: 'porch' }));
      const { stderr } = await until('it is refused', async () => {
        const answer = await apply(make('villa', 'second', { id: 'porch' }));
        if (answer.code !== 0) return answer;
        await home.delete(kind, 'second'); // the webhook did not answer in time
        return undefined;
      });
      expect(stderr).toBe(
        `The ${kind} "second" is invalid: spec.id: ${kind} first has the id porch in the Hub villa already: delete it, or give this one another spec.id or metadata.name.\n`,
      );
      expect(await home.exists(kind, 'second')).toBe(false);
      await home.apply(make('office', 'second', { id: 'porch' }));
    });

    test('is refused in a change, too', async () => {
      await home.apply(automation('villa', 'attic'), automation('villa', 'cellar'));
      await untilSeen(automation('villa', 'other', { id: 'attic' }));
      const change = (id: string | null) =>
        patchObject('HubAutomation', namespace, 'cellar', { spec: { id } });
      const refused = await until('it is refused', async () => {
        const why = await refusal(change('attic'));
        if (why === undefined) await change(null); // the webhook did not answer in time
        return why;
      });
      expect(refused).toContain('HubAutomation attic has the id attic in the Hub villa already');
      await patchObject('HubAutomation', namespace, 'cellar', { spec: { alias: 'The cellar' } });
    });

    test('is released by a resource that is deleted', async () => {
      await home.apply(automation('villa', 'former', { id: 'given_up' }));
      await untilSeen(automation('villa', 'next', { id: 'given_up' }));
      await deleteObject('HubAutomation', namespace, 'former');
      await until('its successor is admitted', async () => {
        return (await refusal(home.apply(automation('villa', 'next', { id: 'given_up' })))) === undefined;
      });
    });

    test('is refused in a dry-run, and a dry-run reserves no id', async () => {
      await home.apply(automation('villa', 'stored', { id: 'dry' }));
      await untilSeen(automation('villa', 'other', { id: 'dry' }));
      const other = automation('villa', 'other', { id: 'dry' });
      const refused = await answered(
        () => other,
        ({ code }) => code !== 0,
        '--dry-run=server',
      );
      expect(refused.stderr).toContain('HubAutomation stored has the id dry');
      expect(await apply(automation('villa', 'one', { id: 'free' }), '--dry-run=server')).toMatchObject({
        code: 0,
      });
      expect(await apply(automation('villa', 'other', { id: 'free' }))).toMatchObject({
        code: 0,
        stderr: '',
      });
    });

    test('of two that are created at the same time is refused, or found when the later one is reconciled', async () => {
      const createPair = async (id: string) => {
        const names = ['a', 'b'].map((name) => `${name}-${id.replaceAll('_', '-')}`);
        const refusals = await Promise.all(
          names.map((name) => refusal(home.apply(automation('villa', name, { id })))),
        );
        return names.filter((_, index) => refusals[index] === undefined);
      };
      // The API server may call the webhook for both automations before it has stored one. Then the webhook
      // knows of neither.
      let both: readonly string[] | undefined;
      for (let index = 0; !both && index < 50; index++) {
        const stored = await createPair(`at_once_${index}`);
        expect(stored.length).toBeGreaterThan(0);
        if (stored.length === 2) both = stored;
      }
      if (!both) throw new Error('no two were stored');
      const [earlier, later] = (await Promise.all(both.map((name) => home.get('HubAutomation', name))))
        .map(({ metadata }) => metadata)
        .sort((x, y) => (x.creationTimestamp + x.uid < y.creationTimestamp + y.uid ? -1 : 1));
      const { message } = await home.ready('HubAutomation', later!.name, {
        status: 'False',
        reason: 'DuplicateId',
      });
      expect(message).toContain(`HubAutomation ${earlier!.name} `);
      await until('the earlier one has the id', async () => {
        const reason = (await home.condition('HubAutomation', earlier!.name))?.reason;
        return reason !== undefined && reason !== 'DuplicateId';
      });
      // A change of either automation is admitted if it keeps the id.
      for (const { name } of [earlier!, later!])
        await patchObject('HubAutomation', namespace, name, { spec: { alias: 'Changed' } });
    });
  });

  describe('warnings', () => {
    test('kubectl prints what the hub would reject, and the resource is stored', async () => {
      const { code, stderr } = await answered((attempt) => unquoted('unquoted', attempt), isWarned);
      expect({ code, stderr }).toEqual({
        code: 0,
        stderr:
          'Warning: spec.triggers[0].to is the boolean true, and the hub wants text: quote on, off, yes, no, true and false.\n',
      });
      expect(await home.exists('HubAutomation', 'unquoted')).toBe(true);
    });

    test('an integer beyond 2^53 arrives with its digits', async () => {
      const manifest = (alias: string) =>
        automation('villa', 'chat', {
          alias,
          actions: [{ action: 'notify.x', data: { chat_id: 'CHAT' } }],
        });
      const { stderr } = await answered(
        (attempt) => JSON.stringify(manifest(attempt)).replace('"CHAT"', '9007199254740993'),
        isWarned,
      );
      expect(stderr).toContain('Warning: spec.actions[0].data.chat_id is the integer 9007199254740993');
    });

    test('two sources of the recorder are admitted with a warning', async () => {
      const recorder = { database: 'sqlite:////config/a.db', databaseSecretRef: { name: 'db' } };
      const { code, stderr } = await answered(
        (attempt) => configuration('villa', `logger: # ${attempt}\n`, { recorder }),
        isWarned,
      );
      expect({ code, stderr }).toEqual({
        code: 0,
        stderr:
          'Warning: spec.recorder has database and databaseSecretRef, and the Secret is used: remove database.\n',
      });
    });

    test('a key of !secret that no HubSecrets gives is named, and one that is given is not', async () => {
      await mustKubectl(['create', 'secret', 'generic', 'keys', '--from-literal=given=hunter2'], {
        namespace,
      });
      const name = 'office';
      await home.apply(configuration(name, 'homeassistant:\n  name: !secret given\n'));
      await home.apply({
        ...configuration(name),
        kind: 'HubSecrets',
        spec: { hubRef: { name }, secretRefs: [{ name: 'keys' }] },
      });
      await home.ready('HubSecrets', name);
      const changed = configuration(
        name,
        'homeassistant:\n  name: !secret given\n  unit_system: !secret lost\n',
      );
      const warning =
        'Warning: spec.configuration, line 3, column 24: no HubSecrets of the Hub office gives the key lost of !secret: add it to one.\n';
      // The leader reads the generated Secret when it reconciles the configuration.
      await until(
        'the keys are known',
        async () => (await apply(changed, '--dry-run=server', '--force-conflicts')).stderr === warning,
      );
    });
  });

  test('a resource whose Hub does not exist is admitted without a warning', async () => {
    expect(await apply(automation('nowhere', 'lost'))).toMatchObject({ code: 0, stderr: '' });
  });

  describe('the certificate', () => {
    test.each([
      ['a deleted Secret', () => deleteObject('secret', OPERATOR_NAMESPACE, WEBHOOK.secret)],
      ['garbage', () => put({ 'tls.crt': 'garbage' })],
      [
        'an expired certificate',
        async () => {
          const { certificate, key, ca } = issueCertificate(HOST, Date.now() - 91 * 24 * 3_600_000);
          await put({ 'tls.crt': certificate, 'tls.key': key, 'ca.crt': ca });
        },
      ],
    ])('is replaced after %s', async (_, damage) => {
      const before = await storedCertificate();
      await damage();
      for (const port of ports)
        await until('a replica serves another certificate, that of the Secret', async () => {
          const served = await servedCertificate(port);
          return served !== before && served === (await storedCertificate());
        });
      await isCalled();
    });

    test('a CA that was removed from the registration is written again, and no other field', async () => {
      await mustKubectl([
        'patch', REGISTRATION, WEBHOOK.configuration, '--type=json',
        '--patch=[{"op":"remove","path":"/webhooks/0/clientConfig/caBundle"},{"op":"replace","path":"/webhooks/0/timeoutSeconds","value":3}]',
      ]); // prettier-ignore
      await until('the CA is there', async () => (await trustedAuthorities()) !== '');
      expect(await getObject(REGISTRATION, '', WEBHOOK.configuration)).toMatchObject({
        webhooks: [{ timeoutSeconds: 3, failurePolicy: 'Ignore' }],
      });
      await isCalled();
    });

    test('the account of the operator changes only its CA, by the admission policy', async () => {
      const { webhooks } = (await getObject(REGISTRATION, '', WEBHOOK.configuration)) as {
        webhooks: [{ clientConfig: object; rules: [object] }];
      };
      const [webhook] = webhooks;
      const write = (changed: readonly object[]) => patchAsOperator({ webhooks: changed });
      const caBundle = Buffer.from('-----BEGIN CERTIFICATE-----\n-----END CERTIFICATE-----\n').toString(
        'base64',
      );
      const clientConfig = { ...webhook.clientConfig, caBundle };
      expect(await write([{ ...webhook, clientConfig }])).toMatchObject({ code: 0 });
      for (const changed of [
        [{ ...webhook, rules: [{ ...webhook.rules[0], resources: ['secrets'] }] }],
        [{ ...webhook, failurePolicy: 'Fail' }],
        [{ ...webhook, clientConfig: { url: 'https://evil.example/', service: null, caBundle } }],
        [],
      ])
        expect(await write(changed)).toMatchObject({
          code: 1,
          stderr: expect.stringContaining('changes only the CA') as string,
        });
    });

    // By these, other programs delete it: the garbage collector, GitOps tools, clean-up tools.
    test.each([
      {
        ownerReferences: [
          { apiVersion: 'v1', kind: 'Namespace', name: 'x', uid: '00000000-0000-4000-8000-000000000001' },
        ],
      },
      { labels: { 'app.kubernetes.io/instance': 'x' } },
      { finalizers: ['example.org/a'] },
    ])('the account of the operator changes none of its metadata: %j', async (metadata) => {
      expect(await patchAsOperator({ metadata })).toMatchObject({
        code: 1,
        stderr: expect.stringContaining('changes no metadata of its resources') as string,
      });
    });
  });

  describe('replicas', () => {
    test('the one that is not the leader also refuses a duplicate', async () => {
      await home.apply(automation('villa', 'both', { id: 'both' }));
      for (const port of ports)
        await until('it is refused', async () => {
          const { allowed } = await review(port, automation('villa', 'other', { id: 'both' }));
          return !allowed;
        });
      // At most one of them is the leader, which on a busy machine need not be the first one.
      expect((await review(ports[1], automation('villa', 'other', { id: 'free_again' }))).allowed).toBe(true);
    });

    test('without any, everything is admitted, and the reconciliation finds the duplicate', async () => {
      await home.apply(automation('villa', 'older', { id: 'unseen' }));
      await standby.stop();
      await leader.stop();
      await outliveCreation(home, 'hubautomation', 'older');
      await home.apply(automation('villa', 'younger', { id: 'unseen' }));
      await leader.start();
      await home.ready('HubAutomation', 'younger', { status: 'False', reason: 'DuplicateId' });
      expect((await home.condition('HubAutomation', 'older'))?.reason).not.toBe('DuplicateId');
      await isCalled();
      const edited = (alias: string) => automation('villa', 'younger', { id: 'unseen', alias });
      const { code, stderr } = await answered(edited, isWarned, '--force-conflicts');
      expect(code).toBe(0);
      expect(stderr).toContain('Warning: HubAutomation older has the id unseen in the Hub villa already');
    });
  });
});

/** Resolves when the webhook knows the resource of which this would be a duplicate. */
function untilSeen(duplicate: Manifest): Promise<true> {
  return until('the cache of the webhook has it', async () => !(await review(ports[0], duplicate)).allowed);
}

function put(content: Readonly<Record<string, string>>): Promise<void> {
  const data = Object.fromEntries(
    Object.entries(content).map(([key, value]) => [key, Buffer.from(value).toString('base64')]),
  );
  return patchObject('secret', OPERATOR_NAMESPACE, WEBHOOK.secret, { data });
}

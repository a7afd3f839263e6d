import { Stopping } from '../../../../../operator/base/errors';
import { FormRejected } from '../../../../../operator/client/entries/config-flows';
import { HubUnreachable } from '../../../../../operator/client/connection/errors';
import type { FlowStep } from '../../../../../operator/client/connection/flow-step';
import { answerFlow, runFlow } from '../../../../../operator/sync/integration/flow/run';
import { ManualClock } from '../../../manual-clock';

/** A hub that shows these steps one after the other, and records the requests. */
function hubWith(...steps: readonly (FlowStep | Error)[]) {
  const calls: string[] = [];
  const left = [...steps];
  const next = () => {
    const step = left.shift();
    return step instanceof Error ? Promise.reject(step) : Promise.resolve(step!);
  };
  const flows = {
    start: () => next(),
    submit: (_: string, __: string, data: object) => (calls.push(`submit ${JSON.stringify(data)}`), next()),
    read: () => (calls.push('read'), next()),
    abort: () => (calls.push('abort'), Promise.resolve()),
    upload: (content: Uint8Array, name: string) =>
      Promise.resolve(`id of ${name}: ${Buffer.from(content).toString()}`),
  };
  return { client: { flows } as unknown as Parameters<typeof runFlow>[0], calls };
}

const FORM: FlowStep = {
  type: 'form',
  flow_id: 'f',
  step_id: 'user',
  data_schema: [{ name: 'host', type: 'string' }],
};
const CREATED: FlowStep = { type: 'create_entry', flow_id: 'f' };
const request = { kind: 'config', domain: 'x' } as const;
const answers = {
  steps: [],
  fields: [{ id: 'configuration.host', field: 'host', value: { type: 'text', text: 'h' } as const }],
};
const hooks = (signal = new AbortController().signal) => ({
  clock: new ManualClock(),
  signal,
  assertDesired: () => signal.throwIfAborted(),
});

describe('runFlow', () => {
  test('a flow that is no longer desired is not started', async () => {
    const { client } = hubWith(CREATED);
    const start = jest.spyOn(client.flows, 'start');
    const assertDesired = () => {
      throw new Stopping('the resource was deleted');
    };
    const running = runFlow(client, request, answers, { ...hooks(), assertDesired });
    await expect(running).rejects.toThrow(Stopping);
    expect(start).not.toHaveBeenCalled();
  });

  test('a flow that is answered is not aborted', async () => {
    const { client, calls } = hubWith(FORM, CREATED);
    expect(await runFlow(client, request, answers, hooks())).toMatchObject({ type: 'created' });
    expect(calls).toEqual(['submit {"host":"h"}']);
  });

  test.each<[string, FlowStep | Error, object]>([
    [
      'comes back with an error',
      { ...FORM, errors: { base: 'cannot_connect' } },
      { problem: { key: 'cannot_connect' } },
    ],
    [
      'is rejected by its schema',
      new FormRejected({ host: 'expected str' }),
      { problem: { field: 'host', text: 'expected str' } },
    ],
  ])('a form that %s leaves no flow behind', async (_, answer, end) => {
    const { client, calls } = hubWith(FORM, answer);
    expect(await runFlow(client, request, answers, hooks())).toMatchObject({ type: 'failed', ...end });
    expect(calls.at(-1)).toBe('abort');
  });

  test('a flow is aborted when the hub does not answer, and when it is given up', async () => {
    const silent = hubWith(FORM, new HubUnreachable('no answer'));
    expect(await runFlow(silent.client, request, answers, hooks())).toMatchObject({
      type: 'failed',
      problem: { kind: 'lost', step: 'user', text: expect.stringContaining('no answer') as unknown },
    });
    expect(silent.calls.at(-1)).toBe('abort');

    const stopping = new AbortController();
    const given = hubWith(FORM, CREATED);
    const onOpen = () => Promise.resolve(stopping.abort(new Error('stopped')));
    const run = runFlow(given.client, request, answers, { ...hooks(stopping.signal), onOpen });
    await expect(run).rejects.toThrow('stopped');
    expect(given.calls).toEqual(['abort']);
  });

  test('its id is known before the first answer is sent', async () => {
    const { client, calls } = hubWith(FORM, CREATED);
    const onOpen = (flowId: string) => Promise.resolve(void calls.push(`open ${flowId}`));
    await runFlow(client, request, answers, { ...hooks(), onOpen });
    expect(calls).toEqual(['open f', 'submit {"host":"h"}']);
  });

  test('progress of the hub is polled, and aborted after ten minutes', async () => {
    const progress: FlowStep = { type: 'progress', flow_id: 'f', step_id: 'scan' };
    const clock = new ManualClock();
    const { client, calls } = hubWith(progress, progress, CREATED);
    const run = runFlow(client, request, answers, { ...hooks(), clock });
    await clock.advance(1_000);
    await clock.advance(1_000);
    expect(await run).toMatchObject({ type: 'created' });
    expect(calls).toEqual(['read', 'read']);

    const slow = hubWith(progress, ...Array.from({ length: 800 }, () => progress));
    const endless = runFlow(slow.client, request, answers, { ...hooks(), clock });
    await clock.advance(1_000);
    await clock.advance(700_000);
    expect(await endless).toMatchObject({ type: 'failed', problem: { step: 'scan' } });
    expect(slow.calls.at(-1)).toBe('abort');
  });

  test('a file is uploaded, and its id sent', async () => {
    const file = { type: 'file', content: Buffer.from('pem'), fileName: 'ca.crt' } as const;
    const { client, calls } = hubWith(FORM, CREATED);
    await runFlow(client, request, { steps: [], fields: [{ id: 'x', field: 'host', value: file }] }, hooks());
    expect(calls).toEqual(['submit {"host":"id of ca.crt: pem"}']);
  });

  test('an answer is not sent if the resource is deleted while its file is uploaded', async () => {
    const file = { type: 'file', content: Buffer.from('pem'), fileName: 'ca.crt' } as const;
    const { client, calls } = hubWith(FORM, CREATED);
    const deleted = new AbortController();
    jest.spyOn(client.flows, 'upload').mockImplementation(() => {
      deleted.abort(new Stopping('the resource was deleted'));
      return Promise.resolve('id');
    });
    const fields = [{ id: 'x', field: 'host', value: file }];
    const running = runFlow(client, request, { steps: [], fields }, hooks(deleted.signal));
    await expect(running).rejects.toThrow(Stopping);
    expect(calls).toEqual(['abort']);
  });
});

describe('answerFlow', () => {
  test('a flow that the hub started stays open for a user', async () => {
    const { client, calls } = hubWith({ ...FORM, errors: { base: 'invalid_auth' } });
    expect(await answerFlow(client, 'config', FORM, answers, hooks(), true)).toMatchObject({
      type: 'failed',
    });
    expect(calls).toEqual(['submit {"host":"h"}']);
  });
});

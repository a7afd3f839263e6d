import type { Clock } from '../../base/clock';
import { FLOW_REQUEST_LIMIT } from '../../base/limits';
import { Timer } from '../../base/timer';
import { flowHandlers, uploadedFile } from '../connection/answers';
import { HubRejected, NotFound } from '../connection/errors';
import { type FlowKind, flowStep, type FlowStep } from '../connection/flow-step';
import type { CallOptions, RestClient } from '../connection/rest';

/** Milliseconds between two checks whether a hub is alive that has not answered a flow yet. */
const ALIVE_CHECK_INTERVAL = 30_000;

const PATH: Readonly<Record<FlowKind, string>> = {
  config: '/api/config/config_entries/flow',
  options: '/api/config/config_entries/options/flow',
  subentries: '/api/config/config_entries/subentries/flow',
};

export type FlowRequest =
  /** The domain of an integration. With an entry id, that entry is reconfigured. */
  | { readonly kind: 'config'; readonly domain: string; readonly entryId?: string }
  | { readonly kind: 'options'; readonly entryId: string }
  /** With a subentry id, that subentry is reconfigured. */
  | {
      readonly kind: 'subentries';
      readonly entryId: string;
      readonly type: string;
      readonly subentryId?: string;
    };

/** The answers do not match the form's schema. The flow is still open. */
export class FormRejected extends HubRejected {
  override readonly name = 'FormRejected';

  /** @param errors the hub's error texts by field, or under `base` */
  constructor(readonly errors: Readonly<Record<string, string>>) {
    super('400', Object.values(errors).join('; '));
  }
}

/**
 * The hub's flows, which people otherwise complete in its UI. The hub keeps a flow in memory until it ends,
 * so a caller that starts a flow must finish or abort it. Before the hub answers, it may set up an entry or
 * wait for a person at a device, and it cancels that when the connection closes. A request therefore times
 * out only after minutes, or when the hub does not answer other requests either.
 */
export class ConfigFlows {
  constructor(
    private readonly rest: RestClient,
    private readonly clock: Clock,
  ) {}

  /**
   * The domains of all integrations that can be set up with a flow, including helpers and community
   * integrations.
   */
  domains(): Promise<readonly string[]> {
    return this.rest.get('/api/config/config_entries/flow_handlers', { answer: flowHandlers });
  }

  /**
   * Starts a flow. @returns its first step
   *
   * @throws NotFound the hub has no such integration, or cannot load it
   * @throws HubRejected the entry cannot be reconfigured, or a dependency of the integration failed
   */
  start(request: FlowRequest): Promise<FlowStep> {
    return this.whileAlive((options) =>
      this.rest.post(PATH[request.kind], bodyOf(request), { ...options, answer: flowStep }),
    );
  }

  /**
   * Sends the answers to a step. @returns the next step
   *
   * @throws FormRejected
   */
  async submit(kind: FlowKind, flowId: string, answers: object): Promise<FlowStep> {
    try {
      return await this.whileAlive((options) =>
        this.rest.post(`${PATH[kind]}/${flowId}`, answers, { ...options, answer: flowStep }),
      );
    } catch (error) {
      throw formRejected(error) ?? error;
    }
  }

  /**
   * Reads the current step, without the errors of the last answers. A step of the type `progress` continues
   * when it is read.
   */
  read(kind: FlowKind, flowId: string): Promise<FlowStep> {
    return this.whileAlive((options) =>
      this.rest.get(`${PATH[kind]}/${flowId}`, { ...options, answer: flowStep }),
    );
  }

  /** Ends a flow. @returns whether it was open; a flow that has ended already is not an error */
  async abort(kind: FlowKind, flowId: string): Promise<boolean> {
    try {
      await this.rest.delete(`${PATH[kind]}/${flowId}`);
      return true;
    } catch (error) {
      if (!(error instanceof NotFound)) throw error;
      return false;
    }
  }

  /**
   * Uploads a file for a field of a form. @returns the id of the upload, which is the answer for the field
   * and can be used once
   */
  async upload(content: Uint8Array, fileName: string): Promise<string> {
    const form = new FormData();
    form.append('file', new Blob([new Uint8Array(content)]), fileName);
    const { file_id: id } = await this.rest.post('/api/file_upload', form, {
      answer: uploadedFile,
      timeout: this.rest.writeTimeout,
    });
    return id;
  }

  private async whileAlive<T>(request: (options: CallOptions) => Promise<T>): Promise<T> {
    const dead = new AbortController();
    const check = new Timer(this.clock);
    let hasEnded = false;
    const watch = () => {
      if (hasEnded) return;
      check.set(ALIVE_CHECK_INTERVAL, () => {
        const asked = this.rest.get('/manifest.json', { token: null, timeout: this.rest.writeTimeout });
        asked.then(watch, (error: unknown) => dead.abort(error));
      });
    };
    watch();
    try {
      return await request({ timeout: FLOW_REQUEST_LIMIT, signal: dead.signal });
    } finally {
      hasEnded = true;
      check.clear();
    }
  }
}

function bodyOf(request: FlowRequest): object {
  switch (request.kind) {
    case 'config':
      return { handler: request.domain, ...(request.entryId !== undefined && { entry_id: request.entryId }) };
    case 'options':
      return { handler: request.entryId };
    case 'subentries':
      return {
        handler: [request.entryId, request.type],
        ...(request.subentryId !== undefined && { subentry_id: request.subentryId }),
      };
  }
}

/** Converts the hub's answer `{"errors": {field: text, base: [text]}}`. */
function formRejected(error: unknown): FormRejected | undefined {
  if (!(error instanceof HubRejected) || error.code !== '400') return undefined;
  try {
    const { errors } = JSON.parse(error.message) as { errors?: Record<string, string | readonly string[]> };
    if (!errors) return undefined;
    const texts = Object.entries(errors).map(([field, text]) => [field, [text].flat().join('; ')]);
    return new FormRejected(Object.fromEntries(texts) as Record<string, string>);
  } catch {
    return undefined; // another shape, or truncated: the hub's text is shown unchanged
  }
}

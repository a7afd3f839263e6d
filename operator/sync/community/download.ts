import http from 'node:http';
import https from 'node:https';
import { addAbortSignal, type Readable } from 'node:stream';
import axios, { isAxiosError } from 'axios';
import { hasLocalHost, LOCAL_ADDRESS, lookupNonLocal } from '../../client/connection/local-address';
import type { Clock } from '../../base/clock';
import { withDeadline } from '../../base/deadline';
import { messageOf, OperationalError } from '../../base/errors';
import { ARCHIVE_SIZE, DOWNLOAD_REDIRECTS, DOWNLOAD_TIMEOUT } from '../../base/limits';

/** The code host did not deliver a file. The message is a sentence for a condition. */
export class DownloadFailed extends OperationalError {
  override readonly name = 'DownloadFailed';

  /**
   * @param isTransient the same request can succeed later
   * @param status status code of HTTP, if the failure is a response
   */
  constructor(
    message: string,
    readonly isTransient: boolean,
    readonly status?: number,
  ) {
    super(message);
  }
}

export interface Download {
  /** The setting `codeHostUrl`. */
  readonly codeHost: string;
  /** Repository as `owner/name`. */
  readonly repository: string;
  readonly ref: string;
  /** The token is sent only to the code host, never to the target of a redirect. */
  readonly token?: string | undefined;
}

interface RequestedFile extends Pick<Download, 'token'> {
  readonly url: URL;
  /** The requested file in words, such as `archive`. */
  readonly what: string;
}

/** Downloads the archive of a repository, as GitHub, Gitea and Forgejo serve it. */
export function downloadArchive(clock: Clock, source: Download, signal?: AbortSignal): Promise<Buffer> {
  return download(clock, { url: archiveUrl(source), what: 'archive', token: source.token }, signal);
}

/**
 * Downloads a file that is attached to the release of the tag `ref`, as GitHub, Gitea and Forgejo serve it.
 *
 * @returns undefined when there is no such release or file
 */
export async function downloadAttachment(clock: Clock, source: Download, name: string, signal?: AbortSignal) {
  const { codeHost, ref, repository, token } = source;
  const url = urlOf(codeHost, [...repository.split('/'), 'releases', 'download', ref, name]);
  try {
    return await download(clock, { url, what: `attachment ${name}`, token }, signal);
  } catch (error) {
    if (error instanceof DownloadFailed && error.status === 404) return undefined;
    throw error;
  }
}

/** The URL of the archive on the code host. */
export function archiveUrl({ codeHost, repository, ref }: Download): URL {
  const url = urlOf(codeHost, [...repository.split('/'), 'archive', ...ref.split('/')]);
  url.pathname += '.zip';
  return url;
}

function urlOf(codeHost: string, segments: readonly string[]): URL {
  return new URL(`${codeHost.replace(/\/+$/, '')}/${segments.map(encodeURIComponent).join('/')}`);
}

async function download(clock: Clock, file: RequestedFile, signal: AbortSignal | undefined): Promise<Buffer> {
  const error = () =>
    new DownloadFailed(
      `The code host has not delivered the ${file.what} within ${DOWNLOAD_TIMEOUT / 1_000} s. It is tried again.`,
      true,
    );
  return withDeadline({ clock, delay: DOWNLOAD_TIMEOUT, error, ...(signal && { signal }) }, (each) =>
    follow(file, each),
  );
}

async function follow(file: RequestedFile, signal: AbortSignal): Promise<Buffer> {
  const { url: first, token, what } = file;
  let url = first;
  for (let redirects = 0; redirects <= DOWNLOAD_REDIRECTS; redirects++) {
    const isCodeHost = url.origin === first.origin;
    // A redirect must not lead to the operator's own machine, unless the code host itself is there.
    const refuseLocal = !isCodeHost && !hasLocalHost(first);
    const sent = isCodeHost ? token : undefined;
    const { status, headers, data: body } = await request(url, refuseLocal, sent, signal);
    if (status === 200) return readAll(body, what, signal);
    body.destroy();
    const location: unknown = headers['location'];
    if (status < 300 || status >= 400 || typeof location !== 'string')
      throw refusal(url, status, what, sent !== undefined);
    url = redirectOf(url, location, first);
  }
  throw new DownloadFailed(`The code host redirects more than ${DOWNLOAD_REDIRECTS} times.`, false);
}

function redirectOf(from: URL, location: string, first: URL): URL {
  const url = URL.canParse(location, from.href) ? new URL(location, from.href) : undefined;
  const isHttp = url?.protocol === 'https:' || (url?.protocol === 'http:' && first.protocol === 'http:');
  if (!url || !isHttp || url.username || url.password)
    throw new DownloadFailed('The code host redirects to an address that is not accepted.', false);
  return url;
}

async function request(url: URL, refuseLocal: boolean, token: string | undefined, signal: AbortSignal) {
  if (refuseLocal && hasLocalHost(url))
    throw new DownloadFailed(`The code host redirects to ${LOCAL_ADDRESS}.`, false);
  const connections = refuseLocal ? { lookup: lookupNonLocal } : {};
  const agent = url.protocol === 'https:' ? new https.Agent(connections) : new http.Agent(connections);
  try {
    return await axios.get<Readable>(url.href, {
      signal,
      httpAgent: agent,
      httpsAgent: agent,
      responseType: 'stream',
      maxRedirects: 0,
      decompress: false,
      validateStatus: () => true,
      headers: {
        'User-Agent': 'hub-operator',
        ...(token !== undefined && { Authorization: `Bearer ${token}` }),
      },
    });
  } catch (error) {
    signal.throwIfAborted();
    if (!isAxiosError(error)) throw error;
    throw new DownloadFailed(`The code host ${url.host} does not answer: ${error.message}.`, true);
  }
}

function refusal(url: URL, status: number, what: string, withToken: boolean): DownloadFailed {
  if (status === 429 || status >= 500)
    return new DownloadFailed(`The code host ${url.host} answers HTTP ${status}. It is tried again.`, true);
  if (status === 401 || status === 403 || status === 404) {
    const way = withToken
      ? 'check spec.repository and spec.ref, and that the token of spec.tokenSecretRef may read the repository'
      : 'check spec.repository and spec.ref, or set spec.tokenSecretRef for a private repository';
    return new DownloadFailed(
      `The code host ${url.host} has no such ${what} (HTTP ${status}): ${way}.`,
      false,
      status,
    );
  }
  return new DownloadFailed(`The code host ${url.host} answers HTTP ${status}.`, false);
}

async function readAll(body: Readable, what: string, signal: AbortSignal): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let size = 0;
  try {
    for await (const chunk of addAbortSignal(signal, body) as AsyncIterable<Buffer>) {
      size += chunk.length;
      if (size > ARCHIVE_SIZE)
        throw new DownloadFailed(
          `The ${what} has more than ${ARCHIVE_SIZE / 1024 / 1024} MiB, which is not accepted.`,
          false,
        );
      chunks.push(chunk);
    }
  } catch (error) {
    signal.throwIfAborted();
    if (error instanceof DownloadFailed) throw error;
    throw new DownloadFailed(
      `The download of the ${what} was interrupted: ${messageOf(error)}. It is tried again.`,
      true,
    );
  } finally {
    body.destroy();
  }
  return Buffer.concat(chunks, size);
}

/**
 * A problem that a developer can fix. `message` is one sentence that states the problem, `hint` states what to do,
 * `evidence` has lines of output and the path of the log. Commands print it with `formatError`, without a stack.
 */
export class SandboxError extends Error {
  override readonly name = 'SandboxError';

  constructor(
    message: string,
    readonly hint: string,
    readonly evidence: { lines?: readonly string[]; logFile?: string; cause?: unknown } = {},
    /** Whether the cause is known to be the machine or its network. */
    readonly isOfMachine = false,
  ) {
    super(message, { cause: evidence.cause });
  }
}

interface Diagnosis {
  readonly pattern: RegExp;
  readonly reason: string;
  readonly hint: string;
  /**
   * Whether the machine or its network is the cause. False when a fault of the repository can cause the same
   * output.
   */
  readonly isOfMachine: boolean;
  /**
   * Whether the pattern explains a failed download. A server logs the same lines about its own connections.
   */
  readonly isOfDownload?: true;
}

// Errors of Go, uv, pip, etcd, the API server and Node whose cause is known. The first match wins.
const diagnoses: readonly Diagnosis[] = [
  {
    pattern: /no space left on device|ENOSPC|disk quota exceeded|EDQUOT/i,
    reason: 'the disk is full',
    hint: 'Free about 5 GB (the first start builds and downloads), or set HUB_OPERATOR_CACHE to a folder on a larger disk.',
    isOfMachine: true,
  },
  {
    pattern: /cannot allocate memory|ENOMEM|runtime: out of memory|signal: killed|\bMemoryError\b/i,
    reason: 'there is not enough memory',
    hint: 'End other programs: about 3 GB must be free.',
    isOfMachine: true,
  },
  {
    pattern: /EROFS|read-only file system/i,
    reason: 'a file system is read-only',
    hint: 'Set HUB_OPERATOR_CACHE and HUB_OPERATOR_RUNS to folders that can be written.',
    isOfMachine: true,
  },
  {
    pattern: /EACCES|permission denied/i,
    reason: 'a file or folder is not writable or not executable',
    hint: 'Check the owner of the folder in the lines below, or set HUB_OPERATOR_CACHE and HUB_OPERATOR_RUNS to your own folders.',
    isOfMachine: false,
  },
  {
    pattern: /address already in use|EADDRINUSE/i,
    reason: 'a port is in use',
    hint: 'Start again: each start looks for free ports.',
    isOfMachine: false,
  },
  {
    pattern: /go\.mod requires go >= [\d.]+ \(running go [\d.]+|invalid go version|toolchain not available/i,
    reason: 'the installed Go is too old',
    hint: 'Install Go 1.26 or newer from https://go.dev/dl/ (or allow Go to fetch it: GOTOOLCHAIN=auto).',
    isOfMachine: true,
  },
  {
    pattern: /checksum mismatch|SECURITY ERROR|hash mismatch/i,
    reason: 'the checksum of a download is wrong',
    hint: 'Start again; if the error persists, a proxy or mirror changes packages (see GOPROXY, UV_INDEX_URL).',
    isOfMachine: false,
    isOfDownload: true,
  },
  {
    pattern: /(reading https?:\S+: |HTTP status client error \()4(?!0[1378]|29)\d\d/i,
    reason: 'the package registry does not have a download',
    hint: 'Check the version in the lines below; a proxy or mirror may not have it (HTTPS_PROXY, GOPROXY, UV_INDEX_URL).',
    isOfMachine: false,
    isOfDownload: true,
  },
  {
    pattern:
      /no such host|dial tcp|i\/o timeout|TLS handshake|network is unreachable|name resolution|dns error|error sending request|(?<!dial unix .*)connection (refused|reset)|failed to fetch|could not connect|EAI_AGAIN|ENOTFOUND|reading https?:\S+: [45]\d\d|HTTP status (client|server) error/i,
    reason: 'a download failed: the network or the package registry is unreachable',
    hint: 'Check that proxy.golang.org and pypi.org are reachable (HTTPS_PROXY, GOPROXY, UV_INDEX_URL), then start again; complete downloads are kept.',
    isOfMachine: true,
    isOfDownload: true,
  },
  {
    pattern: /^E: /m, // of apt and debootstrap
    reason: 'Debian could not be installed',
    hint: 'Check that deb.debian.org is reachable (http_proxy), and that the file system of the cache allows programs and devices.',
    isOfMachine: true,
    isOfDownload: true,
  },
];

const startAgain = 'Read the log. Start again to retry from this step; complete steps are kept.';

/** Returns the error of a failed step, with cause and fix if the output matches a known problem. */
export function stepError(step: string, output: string, logFile?: string): SandboxError {
  return explained(step, output, diagnoses, logFile);
}

/**
 * Returns the error of a server that has ended, like {@link stepError}, except that lines about connections
 * are not taken for a failed download.
 */
export function serverError(name: string, log: string, logFile: string): SandboxError {
  const known = diagnoses.filter(({ isOfDownload }) => !isOfDownload);
  return explained(`Starting ${name}`, log, known, logFile);
}

function explained(
  step: string,
  output: string,
  known: readonly Diagnosis[],
  logFile?: string,
): SandboxError {
  const diagnosis = known.find(({ pattern }) => pattern.test(output));
  const lines = output.trimEnd().split('\n');
  // The cause may be far above the last line, because a server that fails prints a stack.
  const relevant = diagnosis
    ? lines.filter((line) => diagnosis.pattern.test(line)).slice(0, 3)
    : lines.slice(-8);
  return new SandboxError(
    diagnosis ? `${step} failed: ${diagnosis.reason}.` : `${step} failed.`,
    diagnosis?.hint ?? startAgain,
    { lines: relevant, ...(logFile !== undefined && { logFile }) },
    diagnosis?.isOfMachine,
  );
}

/** Whether the cause of an error is known to be the machine or its network. */
export function isOfMachine(error: unknown): boolean {
  const failure = error instanceof SandboxError ? error : systemFailure(error);
  return failure?.isOfMachine ?? false;
}

/**
 * Whether the error comes from a failed step, system call or program. Otherwise it is an exception in our own
 * code.
 */
export function isRefusal(error: unknown): boolean {
  if (error instanceof SandboxError) return true;
  return error instanceof Error && ('syscall' in error || 'stderr' in error);
}

/** Returns an error in one line, to be quoted as the reason in another message. */
export function errorLine(error: unknown): string {
  const { message } = error instanceof Error ? error : { message: String(error) };
  const said = error instanceof SandboxError ? (error.evidence.lines?.join(' ') ?? error.hint) : '';
  return `${message} ${said}`.replace(/\s+/g, ' ').trim();
}

/**
 * Formats an error for a terminal. An error that is not a {@link SandboxError} is a bug and is printed with
 * its stack.
 */
export function formatError(error: unknown): string {
  const failure = error instanceof SandboxError ? error : systemFailure(error);
  if (!failure) return error instanceof Error ? (error.stack ?? error.message) : String(error);
  const { lines = [], logFile } = failure.evidence;
  return [
    failure.message,
    failure.hint,
    ...lines.map((line) => `  | ${line}`),
    ...(logFile === undefined ? [] : [`The full log: ${logFile}`]),
  ].join('\n');
}

/** Explains a known error of the operating system, such as a full disk, that occurred in any step. */
function systemFailure(error: unknown): SandboxError | undefined {
  const isOfSystem = error instanceof Error && 'syscall' in error;
  if (!isOfSystem || !diagnoses.some(({ pattern }) => pattern.test(error.message))) return undefined;
  return stepError('The sandbox', error.message);
}

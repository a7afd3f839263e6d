/**
 * A fault that a person can mend. `message` is one sentence that says what is wrong, `hint` what to do about it; the
 * rest is evidence. Commands print it with `formatError`, without a stack.
 */
export class SandboxError extends Error {
  override readonly name = 'SandboxError';

  constructor(
    message: string,
    readonly hint: string,
    readonly evidence: { tellingLines?: readonly string[]; logFile?: string; cause?: unknown } = {},
  ) {
    super(message, { cause: evidence.cause });
  }
}

interface Diagnosis {
  readonly pattern: RegExp;
  readonly reason: string;
  readonly hint: string;
}

// What Go, uv, pip, etcd, the API server and Node say about the faults of a person's machine. The first that fits wins.
const diagnoses: readonly Diagnosis[] = [
  {
    pattern: /no space left on device|ENOSPC|disk quota exceeded|EDQUOT/i,
    reason: 'the disk is full',
    hint: 'Free about 5 GB (the first start builds and downloads), or set HUB_OPERATOR_CACHE to a roomier place.',
  },
  {
    pattern: /EACCES|EROFS|permission denied|read-only file system/i,
    reason: 'a file or folder that it needs may not be written or run',
    hint: 'See who owns the folder that is named, or set HUB_OPERATOR_CACHE and HUB_OPERATOR_RUNS to places of your own.',
  },
  {
    pattern: /address already in use|EADDRINUSE/i,
    reason: 'a port that it needs is in use',
    hint: 'Start again: each start looks for free ports.',
  },
  {
    pattern: /go\.mod requires go >= [\d.]+ \(running go [\d.]+|invalid go version|toolchain not available/i,
    reason: 'the installed Go is too old',
    hint: 'Install Go 1.26 or newer from https://go.dev/dl/ (or allow Go to fetch it: GOTOOLCHAIN=auto).',
  },
  {
    pattern: /checksum mismatch|SECURITY ERROR|hash mismatch/i,
    reason: 'what was downloaded is not what was expected',
    hint: 'Start again; if it stays, the proxy or mirror in between changes packages (see GOPROXY, UV_INDEX_URL).',
  },
  {
    pattern:
      /no such host|dial tcp|i\/o timeout|TLS handshake|network is unreachable|name resolution|dns error|error sending request|connection (refused|reset)|failed to fetch|could not connect|EAI_AGAIN|ENOTFOUND/i,
    reason: 'a download failed: no network, or no way to the package registry',
    hint: 'See that proxy.golang.org and pypi.org can be reached (HTTPS_PROXY, GOPROXY, UV_INDEX_URL), then start again; what is complete is not fetched twice.',
  },
];

const startAgain = 'The log says more. Start again to retry from this step; complete steps are kept.';

function diagnose(output: string): Diagnosis | undefined {
  return diagnoses.find(({ pattern }) => pattern.test(output));
}

/** A step that failed, from what it printed: says which step, why in plain words where that is known, and what to do. */
export function stepError(step: string, output: string, logFile?: string): SandboxError {
  const diagnosis = diagnose(output);
  const lines = output.trimEnd().split('\n');
  // The reason may stand far above the last line: a server that gives up prints a stack.
  const tellingLines = diagnosis
    ? lines.filter((line) => diagnosis.pattern.test(line)).slice(0, 3)
    : lines.slice(-8);
  return new SandboxError(
    diagnosis ? `${step} failed: ${diagnosis.reason}.` : `${step} failed.`,
    diagnosis?.hint ?? startAgain,
    { tellingLines, ...(logFile !== undefined && { logFile }) },
  );
}

/** For a terminal. What a person cannot mend is a bug, so that one keeps its stack. */
export function formatError(error: unknown): string {
  const failure = error instanceof SandboxError ? error : systemFailure(error);
  if (!failure) return error instanceof Error ? (error.stack ?? error.message) : String(error);
  const { tellingLines = [], logFile } = failure.evidence;
  return [
    failure.message,
    failure.hint,
    ...tellingLines.map((line) => `  | ${line}`),
    ...(logFile === undefined ? [] : [`The full log: ${logFile}`]),
  ].join('\n');
}

/** An error of the operating system, such as a full disk, wherever it struck. */
function systemFailure(error: unknown): SandboxError | undefined {
  const isOfSystem = error instanceof Error && 'syscall' in error;
  return isOfSystem && diagnose(error.message) ? stepError('The sandbox', error.message) : undefined;
}

/** The exit codes of all commands; docs/reference/commands.md lists them. */
export const exitCodes = {
  success: 0,
  /** The command was executed, and its result is negative. */
  negative: 1,
  /** The command could not be executed. */
  failure: 2,
  /** `export` or `convert` wrote its files, but some objects cannot be expressed as resources. */
  incomplete: 3,
} as const;

export type ExitCode = (typeof exitCodes)[keyof typeof exitCodes];

/** Meanings for the reference and for `--help`. */
export const exitCodeMeanings: Readonly<Record<ExitCode, string>> = {
  0: 'Done; all is well; no differences.',
  1: 'The answer is “no”: something is not Ready, a fault or a difference was found, a test failed, a wait ended without success.',
  2: 'The command could not be carried out: wrong arguments, no access to the cluster or the hub, a file that `test` cannot use.',
  3: '`export` and `convert` only: the files were written, and something of the hub cannot be expressed as a resource, or used.',
};

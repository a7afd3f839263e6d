import type { Finding } from '../../../operator/offline/findings';
import { oneLine, type OutputOptions, printResult } from '../../output';
import type { Terminal } from '../../terminal';

/** Prints the errors that prevent the run. */
export async function printFindings(
  findings: readonly Finding[],
  options: OutputOptions,
  terminal: Terminal,
): Promise<void> {
  const lines = findings.map(({ file, line, severity, object, field, message }) =>
    oneLine(`${file}:${line}: ${severity}: ${object}: ${field === undefined ? '' : `${field}: `}${message}`),
  );
  await printResult(terminal, options, { findings }, () => lines.join('\n'));
}

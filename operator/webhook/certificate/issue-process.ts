import { execFile } from 'node:child_process';
import { extname, join } from 'node:path';
import { OperationalError } from '../../errors';
import { WEBHOOK_CERTIFICATE_ISSUE_TIMEOUT } from '../../limits';
import type { IssuedCertificate } from './issue';

/** Beside this file: its source beside the source, its bundle beside the bundle of the operator. */
const PROGRAM = join(__dirname, `issue-certificate${extname(__filename)}`);

/** The process that makes a certificate failed, for example because there was no memory for it. */
class NotIssued extends OperationalError {
  override readonly name = 'NotIssued';
}

/**
 * Makes a certificate in a process of its own, which ends: the library takes 10 MB, and is needed once in two months.
 *
 * @param host name or IP address by which the API server calls
 * @param now milliseconds since the epoch
 * @param signal ends the process; the promise then rejects with its reason at once
 * @param program takes host and time as its arguments and prints an {@link IssuedCertificate} as JSON
 * @throws NotIssued the process failed, or printed something else
 */
export function issueInProcess(
  host: string,
  now: number,
  signal: AbortSignal,
  program = PROGRAM,
): Promise<IssuedCertificate> {
  // It would wait for a debugger, at the same port.
  const flags = process.execArgv.filter((flag) => !flag.startsWith('--inspect'));
  const args = [...flags, program, host, String(now)];
  return new Promise((resolve, reject) => {
    const fail = (problem: string) =>
      reject(new NotIssued(`cannot make a certificate for ${host}: ${problem}`));
    const options = { timeout: WEBHOOK_CERTIFICATE_ISSUE_TIMEOUT, signal };
    execFile(process.execPath, args, options, (error, printed, problem) => {
      if (signal.aborted) return reject(signal.reason);
      if (error) return fail(problem || error.message);
      const issued = parse(printed);
      if (issued) resolve(issued);
      else fail('the process that makes it did not print one');
    });
  });
}

/** The output may be a private key: no message contains it. */
function parse(printed: string): IssuedCertificate | undefined {
  try {
    const issued = JSON.parse(printed) as Partial<IssuedCertificate> | null;
    const isComplete = [issued?.certificate, issued?.key, issued?.ca].every((pem) => typeof pem === 'string');
    return isComplete ? (issued as IssuedCertificate) : undefined;
  } catch {
    return undefined;
  }
}

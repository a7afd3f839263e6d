import { constants } from 'node:fs';
import { access, stat, writeFile } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import { CommandError } from '../../command-error';

/** Checks in advance whether a report can be written to a file. @throws CommandError */
export async function checkReport(file: string): Promise<void> {
  await access(dirname(resolve(file)), constants.W_OK).catch(notWritten(file));
  const found = await stat(file).catch(() => undefined);
  if (found?.isDirectory()) notWritten(file)(Object.assign(new Error(), { code: 'EISDIR' }));
}

/** @throws CommandError */
export async function writeReport(file: string, text: string): Promise<void> {
  await writeFile(file, text).catch(notWritten(file));
}

const REASONS: Readonly<Record<string, string>> = {
  ENOENT: 'there is no such folder',
  EISDIR: 'it is a folder',
};

const notWritten =
  (file: string) =>
  (error: unknown): never => {
    const { code = '', message } = error as NodeJS.ErrnoException;
    throw new CommandError(
      `cannot write the report ${file}: ${REASONS[code] ?? message}: name another file with --junit`,
    );
  };

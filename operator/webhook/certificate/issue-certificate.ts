import { issueCertificate } from './issue';

// A program: `issue-certificate <host> <now>` prints what `issueCertificate` returns, as JSON.

const [host = '', now] = process.argv.slice(2);
issueCertificate(host, Number(now)).then(
  (issued) => process.stdout.write(JSON.stringify(issued)),
  (error: unknown) => {
    process.stderr.write(error instanceof Error ? error.message : String(error));
    process.exitCode = 1;
  },
);

import { checkInHub, newLines } from '../../../../../operator/sync/configuration/load/check';

const redact = (text: string) => text.replaceAll('hunter2', '***');

describe('checkInHub', () => {
  const check = (errors: string | null, warnings: string | null, known = '') =>
    checkInHub(
      {
        client: {
          rest: { post: () => Promise.resolve({ result: 'valid', errors, warnings }), redact: String },
          connection: { command: () => Promise.resolve([]) },
        } as never,
        redact,
        files: {},
      },
      known,
    );

  test('errors, and warnings that are new, are a problem', async () => {
    expect((await check('broken', null)).problem).toEqual({ problem: 'broken', isWarning: false });
    expect((await check(null, 'left out')).problem).toEqual({ problem: 'left out', isWarning: true });
    const both = { problem: 'broken\nleft out', isWarning: false };
    expect((await check('broken', 'left out')).problem).toEqual(both);
    expect((await check(null, null)).problem).toBeUndefined();
  });

  test('a warning that the accepted configuration had is ignored, even if its line has moved', async () => {
    const result = await check(
      null,
      "Invalid config for 'x' at configuration.yaml, line 9: y",
      "Invalid config for 'x' at configuration.yaml, line 5: y",
    );
    expect(result.problem).toBeUndefined();
    expect(result.warnings).toContain('line 9');
  });

  test('quotations of the check are masked', async () => {
    expect((await check("got 'hunter2'", null)).problem?.problem).toBe("got '***'");
    expect((await check(null, "got 'hunter2'")).warnings).toBe("got '***'");
  });
});

describe('newLines', () => {
  test('returns the lines that are not known', () => {
    expect(newLines('a\nb\n\nc', 'b')).toBe('a\nc');
    expect(newLines('', 'b')).toBe('');
  });
});

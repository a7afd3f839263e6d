import type { Pod } from '../../../../operator/sync/hub-pod/owned-objects';
import { prepareReport, unbanReport } from '../../../../operator/sync/hub-pod/termination-messages';

const pod = (name: string, message: string, state: 'state' | 'lastState' = 'state'): Pod => ({
  metadata: { name: 'villa-0' },
  status: {
    initContainerStatuses: [{ name, [state]: { terminated: { exitCode: 0, message } } }],
  },
});
const prepared = (message: string) => prepareReport(pod('prepare-config', message));

const COMPLETE = {
  result: 'replaced',
  version: '2026.11.0',
  content: { configuration: 'sha256:1', secrets: 'abc' },
  created: ['sensrs.yaml'],
  kept: [],
  folders: { missing: ['packages'], empty: [], present: ['themes'], isComplete: true },
  lastStart: [],
  problems: [{ kind: 'error', text: 'line 3, "problems": []' }],
};
/** The JSON in the format of Python. */
const { isComplete: _, ...named } = COMPLETE.folders;
const written = (unnamed: number) =>
  JSON.stringify({ ...COMPLETE, folders: { ...named, unnamed } }).replaceAll(/([:,])(?=["{[])/g, '$1 ');
const LINE = written(0);

describe('prepareReport', () => {
  test('reads the report of the script, also while its next run waits', () => {
    expect(prepared(LINE)).toEqual(COMPLETE);
    expect(prepareReport(pod('prepare-config', LINE, 'lastState'))).toEqual(COMPLETE);
  });

  test('recognizes that a message does not name all folders, and that an earlier version searched for none', () => {
    expect(prepared(written(3))?.folders?.isComplete).toBe(false);
    expect(prepared('{"result": "loaded"}')).toMatchObject({ folders: undefined });
  });

  test('reads everything except the problems of a message that a kubelet has truncated', () => {
    expect(prepared(LINE.slice(0, -20))).toEqual({ ...COMPLETE, problems: [] });
  });

  test.each([
    ['the sentence of an earlier version', 'The configuration was checked.\ncontent sha256:1'],
    ['a log', 'Traceback (most recent call last):'],
    ['another result', '{"result": "surprise"}'],
    ['no object', '["loaded"]'],
    ['a message that was cut before its problems', LINE.slice(0, 60)],
    ['nothing', ''],
  ])('is undefined for %s', (_, message) => {
    expect(prepared(message)).toBeUndefined();
  });

  test('leaves out fields of other types', () => {
    const odd = { result: 'loaded', version: 1, content: 'x', created: [1, 'a'], problems: [1, { text: 2 }] };
    expect(prepared(JSON.stringify(odd))).toEqual({
      result: 'loaded',
      version: '',
      created: ['a'],
      kept: [],
      lastStart: [],
      problems: [{ kind: 'warning', text: '' }],
    });
  });

  test('is undefined for a pod without the container, and without a pod', () => {
    expect(prepareReport(pod('another', LINE))).toBeUndefined();
    expect(prepareReport(undefined)).toBeUndefined();
  });
});

describe('unbanReport', () => {
  const unbanned = (message: string) => unbanReport(pod('unban-operator-ip', message));

  test('reads the report of the script', () => {
    expect(unbanned('{"result": "absent", "address": "10.0.0.5", "banned": ["10.0.0.7"]}')).toEqual({
      result: 'absent',
      address: '10.0.0.5',
      banned: ['10.0.0.7'],
    });
  });

  test('is undefined for the sentence of an earlier version', () => {
    expect(unbanned('10.0.0.5 is not among the bans; banned are 10.0.0.7')).toBeUndefined();
  });
});

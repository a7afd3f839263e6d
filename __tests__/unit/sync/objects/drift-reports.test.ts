import { DriftReports } from '../../../../operator/sync/objects/drift-reports';
import { services } from '../fixtures';

describe('DriftReports', () => {
  const counted: string[] = [];
  const reports = new DriftReports(
    services({ metrics: { countDrift: (kind, action) => void counted.push(`${kind} ${action}`) } }),
    { kind: 'HubFloor' },
  );

  beforeEach(() => counted.splice(0));

  test('each correction is an event and is counted', () => {
    const event = { type: 'Warning', reason: 'DriftDetected', message: 'It is changed back.' };
    expect(reports.reportCorrected('It is changed back.')).toEqual(event);
    expect(counted).toEqual(['HubFloor corrected']);
  });

  test('drift that is left is counted when it is found, not at each observation', () => {
    const found = reports.reportLeft({ reason: 'FloorRegistered' }, 'It stays so.');
    expect(found).toMatchObject({ type: 'Stalled', reason: 'DriftDetected', message: 'It stays so.' });
    reports.reportLeft(found, 'It stays so.');
    expect(counted).toEqual(['HubFloor reported']);
  });
});

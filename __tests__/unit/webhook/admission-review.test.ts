import { NotAReview, readReview, writeReview } from '../../../operator/webhook/admission-review';
import { creation, ours } from './requests';

const request = creation(ours('HubAutomation', 'porch'));
const envelope = { apiVersion: 'admission.k8s.io/v1', kind: 'AdmissionReview' };
const answer = (...verdict: Parameters<typeof writeReview>): unknown => JSON.parse(writeReview(...verdict));

describe('readReview', () => {
  test('reads the request, without rounding an integer', () => {
    const body = JSON.stringify({ ...envelope, request }).replace(
      '"hubRef"',
      '"chat": 9007199254740993, "hubRef"',
    );
    const { object, operation, uid } = readReview(Buffer.from(body));
    expect({ operation, uid }).toEqual({ operation: 'CREATE', uid: 'uid-of-request' });
    expect(JSON.stringify(object!.spec)).toContain('9007199254740993');
  });

  test('a missing object is null', () => {
    const { object: _, oldObject: __, ...rest } = request;
    expect(readReview(Buffer.from(JSON.stringify({ ...envelope, request: rest })))).toMatchObject({
      object: null,
      oldObject: null,
    });
  });

  test.each([
    ['no JSON', '{'],
    ['nothing', ''],
    ['null', 'null'],
    ['another version', JSON.stringify({ ...envelope, apiVersion: 'admission.k8s.io/v1beta1', request })],
    ['another kind', JSON.stringify({ ...envelope, kind: 'Status', request })],
    ['no request', JSON.stringify(envelope)],
    ['a request without a uid', JSON.stringify({ ...envelope, request: { kind: request.kind } })],
    ['a request without a kind', JSON.stringify({ ...envelope, request: { uid: 'x' } })],
  ])('%s is rejected', (_, body) => {
    expect(() => readReview(Buffer.from(body))).toThrow(NotAReview);
  });
});

describe('writeReview', () => {
  test('an admitted object has neither a status nor warnings', () => {
    expect(answer(request, { warnings: [] })).toEqual({
      ...envelope,
      response: { uid: 'uid-of-request', allowed: true },
    });
  });

  test('warnings are for the client', () => {
    expect(answer(request, { warnings: ['Quote it.'] })).toMatchObject({
      response: { allowed: true, warnings: ['Quote it.'] },
    });
  });

  test('at most ten warnings are given', () => {
    const warnings = Array.from({ length: 30 }, (_, index) => `Warning ${index}.`);
    const { response } = answer(request, { warnings }) as { response: { warnings: string[] } };
    expect(response.warnings).toEqual([...warnings.slice(0, 9), 'There are 21 more.']);
  });

  test('a refusal names kind, object and field, as an error of a schema does', () => {
    const refusal = { field: 'spec.id', message: 'It is taken.' };
    expect(answer(request, { refusal, warnings: [] })).toMatchObject({
      response: {
        allowed: false,
        status: {
          code: 422,
          reason: 'Invalid',
          message: 'spec.id: It is taken.',
          details: {
            group: request.kind.group,
            kind: 'HubAutomation',
            name: 'porch',
            causes: [{ reason: 'FieldValueDuplicate', field: 'spec.id', message: 'It is taken.' }],
          },
        },
      },
    });
  });
});

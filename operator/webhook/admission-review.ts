import { TooManyValues } from '../base/bounded-json';
import type { CustomResource } from '../kinds/resource';
import { parseObjects } from '../runtime/json';

/** The request of an `admission.k8s.io/v1` review, with the fields that the rules read. */
export interface AdmissionRequest {
  readonly uid: string;
  readonly kind: { readonly group: string; readonly kind: string };
  readonly operation: 'CREATE' | 'UPDATE' | 'DELETE' | 'CONNECT';
  readonly object: CustomResource | null;
  /** The stored object, for an UPDATE. */
  readonly oldObject: CustomResource | null;
}

/** The answer of the rules. */
export interface Verdict {
  /** The reason why the object is refused. Absent if it is admitted. */
  readonly refusal?: Refusal;
  /** Sentences that kubectl prints. */
  readonly warnings: readonly string[];
}

/** A refused field, reported in the form in which the API server reports violations of a schema. */
interface Refusal {
  /** Path of the field, such as `spec.id`. */
  readonly field: string;
  /** A sentence that does not repeat the field. */
  readonly message: string;
}

/** The body is not an AdmissionReview of version v1. The message is a sentence for the API server. */
export class NotAReview extends Error {
  override readonly name = 'NotAReview';
}

const REVIEW = { apiVersion: 'admission.k8s.io/v1', kind: 'AdmissionReview' } as const;

/** kubectl shows at most this many warnings; the API server drops the rest beyond 4 KiB. */
const MOST_WARNINGS = 10;

/** The HTTP status of an object that is invalid. */
const INVALID = 422;

/** Nesting depth at which `request.object` begins, counted from the start of the review. */
const OBJECT_DEPTH = 3;

/** @throws NotAReview */
export function readReview(body: Buffer): AdmissionRequest {
  const review = parse(body) as { apiVersion?: unknown; kind?: unknown; request?: unknown } | null;
  const isReview =
    typeof review === 'object' && review?.kind === REVIEW.kind && review.apiVersion === REVIEW.apiVersion;
  const request = isReview ? (review.request as Partial<AdmissionRequest> | null | undefined) : undefined;
  if (typeof request?.uid !== 'string' || typeof request.kind?.kind !== 'string')
    throw new NotAReview(`cannot read the request: it is no ${REVIEW.kind} of ${REVIEW.apiVersion}`);
  return {
    ...(request as AdmissionRequest),
    object: request.object ?? null,
    oldObject: request.oldObject ?? null,
  };
}

function parse(body: Buffer): unknown {
  try {
    return parseObjects(body, OBJECT_DEPTH);
  } catch (error) {
    if (error instanceof TooManyValues) throw new NotAReview(`cannot read the request: ${error.message}`);
    throw new NotAReview('cannot read the request: it is not JSON', { cause: error });
  }
}

/** The body of the response. */
export function writeReview(request: AdmissionRequest, { refusal, warnings }: Verdict): string {
  const response = {
    uid: request.uid,
    allowed: refusal === undefined,
    ...(refusal && { status: invalidStatus(request, refusal) }),
    ...(warnings.length > 0 && { warnings: shown(warnings) }),
  };
  return JSON.stringify({ ...REVIEW, response });
}

function shown(warnings: readonly string[]): readonly string[] {
  if (warnings.length <= MOST_WARNINGS) return warnings;
  return [...warnings.slice(0, MOST_WARNINGS - 1), `There are ${warnings.length - MOST_WARNINGS + 1} more.`];
}

/** A `metav1.Status`, which kubectl prints like a violation of a schema. */
function invalidStatus({ kind, object }: AdmissionRequest, { field, message }: Refusal) {
  return {
    code: INVALID,
    reason: 'Invalid',
    message: `${field}: ${message}`,
    details: {
      group: kind.group,
      kind: kind.kind,
      name: object?.metadata.name,
      causes: [{ reason: 'FieldValueDuplicate', field, message }],
    },
  };
}

import { isAxiosError } from 'axios';

/** Whether an error comes from a request, or from the connection while the answer is read. */
export function isNetworkError(error: unknown): error is Error & { readonly code?: string } {
  return isAxiosError(error) || typeof (error as { readonly code?: unknown }).code === 'string';
}

/**
 * A fixed text by error code. The original message is not used: that of a TLS error quotes the certificate,
 * which may come from another server.
 */
export function describeNetworkError({ code, message }: { code?: string; message: string }): string {
  switch (code) {
    case 'ECONNREFUSED':
      return 'connection refused';
    case 'ENOTFOUND':
    case 'EAI_AGAIN':
      return 'its host name does not resolve';
    case 'ECONNRESET':
    case 'ERR_BAD_RESPONSE':
    case 'ECONNABORTED':
    case 'ERR_STREAM_PREMATURE_CLOSE':
      return 'the connection broke';
    case 'ETIMEDOUT':
    case 'EHOSTUNREACH':
    case 'ENETUNREACH':
      return 'no route to the host, or no answer';
    case 'ERR_TLS_CERT_ALTNAME_INVALID':
      return 'its certificate is for another name';
    case 'CERT_HAS_EXPIRED':
      return 'its certificate has expired';
    case 'SELF_SIGNED_CERT_IN_CHAIN':
    case 'DEPTH_ZERO_SELF_SIGNED_CERT':
    case 'UNABLE_TO_VERIFY_LEAF_SIGNATURE':
    case 'UNABLE_TO_GET_ISSUER_CERT':
    case 'UNABLE_TO_GET_ISSUER_CERT_LOCALLY':
      return `its certificate is signed by an unknown authority (${code})`;
    case 'LOCAL_ADDRESS_REFUSED':
    case 'SERVICE_MISSING':
      return message;
    default:
      return code ?? 'the connection failed';
  }
}

import { HubError } from '../operator/client/connection/errors';
import { messageOf, type OperationalError } from '../operator/base/errors';
import { ApiError, ApiServerUnreachable, isForbidden } from '../operator/runtime/api-errors';
import type { Cluster } from './cluster';

/** The error of a command for the user, with the failed attempt and what to do. */
export function errorText(error: OperationalError, cluster: Cluster | undefined): string {
  const message = messageOf(error);
  if (error instanceof HubError) return `the hub: ${message}`;
  if (error instanceof ApiServerUnreachable)
    return `the API server ${cluster?.place ?? ''} cannot be used: ${message}: check that it runs, or choose another one with --context or --kubeconfig`;
  if (error instanceof ApiError && error.status === 401)
    return `the API server ${cluster?.place ?? ''} does not accept your credentials: ${message}: log in again, or choose another context with --context`;
  if (isForbidden(error))
    return `${message}: kubectl auth can-i --list -n ${cluster?.namespace ?? 'NAMESPACE'} lists your rights`;
  return message;
}

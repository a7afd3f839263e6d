import { lookup } from 'node:dns';
import { isIP, type LookupFunction } from 'node:net';
import { OperationalError } from '../../base/errors';

/** `spec.clusterIPs` of a Service without an address of its own. */
const HEADLESS = 'None';

/**
 * Answers every name with the addresses of a Service. A name server may complete `villa.home.svc` with a domain of its own when the
 * Service does not exist, and then the token would go to a stranger. Host header and name of the certificate stay those of the URL.
 *
 * @param addresses `spec.clusterIPs`, asked for each new connection; none: nothing is connected
 */
export function lookupAs(addresses: () => readonly string[]): LookupFunction {
  return (hostname, options, callback) => {
    const found = addresses();
    if (found[0] === HEADLESS) return lookup(hostname, options, callback);
    const answer = found.map((address) => ({ address, family: isIP(address) }));
    const [first] = answer;
    if (!first) return callback(new ServiceMissing(), '', 0);
    return options.all ? callback(null, answer) : callback(null, first.address, first.family);
  };
}

export class ServiceMissing extends OperationalError {
  readonly code = 'SERVICE_MISSING';
  constructor() {
    super('its Service does not exist or has no address yet');
  }
}

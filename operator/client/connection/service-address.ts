import { isIP, type LookupFunction } from 'node:net';
import { OperationalError } from '../../base/errors';

/**
 * Answers every name with the addresses of a Service. A name server may complete `villa.home.svc` with a domain of its own when the
 * Service does not exist, and then the token would go to a stranger. Host header and name of the certificate stay those of the URL.
 *
 * @param addresses asked for each new connection; none: nothing is connected
 */
export function lookupAs(addresses: () => readonly string[]): LookupFunction {
  return (_hostname, options, callback) => {
    const answer = addresses().map((address) => ({ address, family: isIP(address) }));
    const [first] = answer;
    if (!first) return callback(new ServiceMissing(), '', 0);
    return options.all ? callback(null, answer) : callback(null, first.address, first.family);
  };
}

class ServiceMissing extends OperationalError {
  readonly code = 'SERVICE_MISSING';
  constructor() {
    super('its Service does not exist, has no address yet, or leads to other pods');
  }
}

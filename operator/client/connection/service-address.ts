import { isIP, type LookupFunction } from 'node:net';
import { OperationalError } from '../../base/errors';

/**
 * Resolves every name to the addresses of a Service. Without this, when the Service does not exist, a name
 * server could complete `villa.home.svc` with a domain of its own, and the token would be sent to another
 * server. The Host header and the expected name of the certificate remain those of the URL.
 *
 * @param addresses called for each new connection; if it returns none, the connection fails
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

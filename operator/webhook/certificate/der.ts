/** A value of ASN.1 in the distinguished encoding (X.690): tag, length, content. */
export function der(tag: number, ...contents: readonly Uint8Array[]): Buffer {
  const content = Buffer.concat(contents);
  return Buffer.concat([Buffer.from([tag]), lengthOf(content.length), content]);
}

function lengthOf(length: number): Buffer {
  if (length < 0x80) return Buffer.from([length]);
  const bytes = Buffer.from([length >> 8, length & 0xff]);
  return length < 0x100 ? Buffer.from([0x81, length]) : Buffer.concat([Buffer.from([0x82]), bytes]);
}

export const sequence = (...items: readonly Uint8Array[]): Buffer => der(0x30, ...items);
export const set = (...items: readonly Uint8Array[]): Buffer => der(0x31, ...items);
export const octets = (content: Uint8Array): Buffer => der(0x04, content);
export const utf8 = (text: string): Buffer => der(0x0c, Buffer.from(text));
export const truth = (): Buffer => der(0x01, Buffer.from([0xff]));
/** A value with the context-specific tag `[number]`. */
export const tagged = (number: number, ...items: readonly Uint8Array[]): Buffer =>
  der(0xa0 | number, ...items);

/** A non-negative number from big-endian bytes. */
export const integer = (bytes: Uint8Array): Buffer =>
  der(0x02, bytes[0]! < 0x80 ? bytes : Buffer.concat([Buffer.from([0]), bytes]));

/** @param unused number of unused bits at the end of the last byte */
export const bits = (content: Uint8Array, unused = 0): Buffer => der(0x03, Buffer.from([unused]), content);

/** An object identifier, such as `1.2.840.10045.4.3.2`. */
export function objectId(dotted: string): Buffer {
  const [first = 0, second = 0, ...rest] = dotted.split('.').map(Number);
  return der(0x06, Buffer.from([40 * first + second, ...rest.flatMap(base128)]));
}

function base128(value: number): number[] {
  const bytes = [value & 0x7f];
  for (let left = value >> 7; left > 0; left >>= 7) bytes.unshift((left & 0x7f) | 0x80);
  return bytes;
}

/** @param at milliseconds since the epoch. RFC 5280 requires the short form until 2049. */
export function time(at: number): Buffer {
  const digits = new Date(at).toISOString().replace(/\.\d+|[-:T]/g, '');
  return digits < '2050' ? der(0x17, Buffer.from(digits.slice(2))) : der(0x18, Buffer.from(digits));
}

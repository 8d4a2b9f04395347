/**
 * Strict base64 (RFC 4648, 4 and 5): one alphabet, canonical padding bits, no white space. Text of the
 * URL-safe alphabet may leave its padding out. `undefined` for anything else.
 */
export function parseBase64(text: string): Buffer | undefined {
  if (/^[A-Za-z0-9+/]*={0,2}$/.test(text)) {
    const bytes = Buffer.from(text, 'base64');
    if (bytes.toString('base64') === text) return bytes;
  }
  if (/^[A-Za-z0-9_-]*={0,2}$/.test(text) && /[_-]/.test(text)) {
    const bytes = Buffer.from(text, 'base64url');
    const bare = bytes.toString('base64url');
    const padded = bare.padEnd(Math.ceil(bare.length / 4) * 4, '=');
    if (text === bare || text === padded) return bytes;
  }
  return undefined;
}

/** Standard base64 of exactly `length` octets, else `undefined`. */
export function parseBase64Octets(text: string, length: number): Buffer | undefined {
  const bytes = parseBase64(text);
  return bytes?.length === length && !/[_-]/.test(text) ? bytes : undefined;
}

/**
 * Base64 as anybody's tool writes it (protobuf JSON, DSSE): one of both alphabets, padded or not, canonical bits, no
 * white space.
 */
export function parseAnyBase64(text: string): Buffer | undefined {
  const isPadded = text.endsWith('=') || text.length % 4 === 0;
  return parseBase64(isPadded ? text : text.padEnd(Math.ceil(text.length / 4) * 4, '='));
}

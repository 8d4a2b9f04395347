const quote = 0x22;
const backslash = 0x5c;
const opening = new Set([0x7b, 0x5b]);
const closing = new Set([0x7d, 0x5d]);

/**
 * The text of a member of the object that a JSON document is, wherever it stands in it; what is within its other
 * members is passed over, in linear time and without reading it. `undefined` where there is none, or another value.
 * Whether it is JSON at all is judged by who reads it.
 */
export function topMember(bytes: Buffer, name: string): string | undefined {
  let depth = 0;
  let key: string | undefined;
  let isValue = false;
  for (let at = 0; at < bytes.length; at += 1) {
    const octet = bytes[at] ?? 0;
    if (octet === quote) {
      const end = endOfText(bytes, at);
      if (end < 0) return undefined;
      if (depth === 1 && isValue && key === name) return readText(bytes.subarray(at, end + 1));
      if (depth === 1 && !isValue) key = readText(bytes.subarray(at, Math.min(end + 1, at + 1024)));
      at = end;
    } else if (opening.has(octet)) depth += 1;
    else if (closing.has(octet)) depth -= 1;
    else if (depth === 1 && octet === 0x3a) isValue = true;
    else if (depth === 1 && octet === 0x2c) isValue = false;
  }
  return undefined;
}

function endOfText(bytes: Buffer, start: number): number {
  for (let end = bytes.indexOf(quote, start + 1); end >= 0; end = bytes.indexOf(quote, end + 1)) {
    let slashes = 0;
    while (bytes[end - 1 - slashes] === backslash) slashes += 1;
    if (slashes % 2 === 0) return end;
  }
  return -1;
}

function readText(bytes: Buffer): string | undefined {
  try {
    return String(JSON.parse(bytes.toString('utf8')));
  } catch {
    return undefined;
  }
}

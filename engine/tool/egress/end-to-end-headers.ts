/**
 * Between two hops only (RFC 9110, 7.6.1), or for the proxy itself; with what `Connection` names they go no further.
 */
const hopByHop: ReadonlySet<string> = new Set([
  'connection',
  'expect',
  'http2-settings',
  'keep-alive',
  'proxy-authenticate',
  'proxy-authentication-info',
  'proxy-authorization',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
]);

/** Raw headers (name, value, name, …) as pairs, without those that end here and without `without` (lower case). */
export function endToEndHeaders(
  raw: readonly string[],
  without: readonly string[] = [],
): readonly (readonly [name: string, value: string])[] {
  const pairs: [string, string][] = [];
  for (let at = 0; at + 1 < raw.length; at += 2) pairs.push([raw[at] ?? '', raw[at + 1] ?? '']);
  const named = pairs
    .filter(([name]) => name.toLowerCase() === 'connection')
    .flatMap(([, value]) => value.split(',').map((token) => token.trim().toLowerCase()));
  const dropped = new Set([...named, ...without]);
  return pairs.filter(([name]) => {
    const lower = name.toLowerCase();
    return !hopByHop.has(lower) && !dropped.has(lower);
  });
}

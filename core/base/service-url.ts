/** Hosts, with their ports, that may be reached over plain HTTP: `gpubox:11434`. */
export type PlainHttpHosts = readonly string[] | 'any';

/**
 * Returns why `text` is not a valid service address, or `undefined` if it is valid. Plain HTTP is allowed only for
 * the loopback and for `plainHttp`.
 */
export function serviceUrlFault(text: string, plainHttp: PlainHttpHosts = []): string | undefined {
  if (text.length > 2048 || !URL.canParse(text)) return 'expected an absolute URL';
  const url = new URL(text);
  if (url.username !== '' || url.password !== '') return 'expected no name or password in the URL';
  if (url.search !== '' || url.hash !== '') return 'expected no query and no fragment';
  if (url.protocol === 'https:') return undefined;
  if (url.protocol === 'http:' && (isLoopback(url) || plainHttp === 'any' || plainHttp.includes(url.host)))
    return undefined;
  return 'expected `https:` (plain `http:` only on the loopback)';
}

/** Returns host and port of an address that uses plain HTTP beyond the loopback. */
export function plainHttpHost(text: string): string | undefined {
  if (!URL.canParse(text)) return undefined;
  const url = new URL(text);
  return url.protocol === 'http:' && !isLoopback(url) ? url.host : undefined;
}

/** True if the URL names this machine's loopback, by the name `localhost` or by address. Resolves no name. */
function isLoopback({ hostname }: URL): boolean {
  return hostname === 'localhost' || hostname === '[::1]' || /^127(?:\.\d{1,3}){3}$/.test(hostname);
}

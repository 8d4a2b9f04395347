/** Hosts, with their ports, that may be asked over plain HTTP: `gpubox:11434`. */
export type PlainHttpHosts = readonly string[] | 'any';

/**
 * What a service may be reached by: why `text` is no such address; nothing where it is one. Plain HTTP is for the
 * loopback and for `plainHttp` alone.
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

/** The host, with its port, of an address that is asked over plain HTTP beyond the loopback. */
export function plainHttpHost(text: string): string | undefined {
  if (!URL.canParse(text)) return undefined;
  const url = new URL(text);
  return url.protocol === 'http:' && !isLoopback(url) ? url.host : undefined;
}

/** True where the URL names this machine's loopback by its own name or an address; nothing is resolved. */
function isLoopback({ hostname }: URL): boolean {
  return hostname === 'localhost' || hostname === '[::1]' || /^127(?:\.\d{1,3}){3}$/.test(hostname);
}

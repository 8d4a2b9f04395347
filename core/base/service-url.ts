/** What a service may be reached by: why `text` is no such address; nothing where it is one. */
export function serviceUrlFault(text: string): string | undefined {
  if (text.length > 2048 || !URL.canParse(text)) return 'expected an absolute URL';
  const url = new URL(text);
  if (url.username !== '' || url.password !== '') return 'expected no name or password in the URL';
  if (url.search !== '' || url.hash !== '') return 'expected no query and no fragment';
  if (url.protocol === 'https:' || (url.protocol === 'http:' && isLoopback(url))) return undefined;
  return 'expected `https:` (plain `http:` only on the loopback)';
}

/** True where the URL names this machine's loopback by its own name or an address; nothing is resolved. */
export function isLoopback({ hostname }: URL): boolean {
  return hostname === 'localhost' || hostname === '[::1]' || /^127(?:\.\d{1,3}){3}$/.test(hostname);
}

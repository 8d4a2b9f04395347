const port = 11_434;

/** Whether a base is the vendor's own service, which alone wants the vendor's key. */
export function isCloud(base: string): boolean {
  if (!URL.canParse(base)) return false;
  const { hostname } = new URL(base);
  return hostname === 'ollama.com' || hostname.endsWith('.ollama.com');
}

/**
 * The address in OLLAMA_HOST as a URL: `host`, `host:port`, `:port` and a URL mean what they mean to the vendor's
 * client. What a server listens on everywhere (`0.0.0.0`) is asked on the loopback; a last `/api` is the paths' own.
 */
export function toOllamaBase(given: string): string {
  const text = given.trim().replace(/\/{1,8}$/, '');
  const hasScheme = /^https?:\/\//i.test(text);
  const address = hasScheme ? text : `http://${withHost(text)}`;
  if (text === '' || (!hasScheme && text.includes('://')) || !URL.canParse(address)) return given;
  const url = new URL(address);
  if (!hasScheme && url.port === '') {
    if (isCloud(address)) url.protocol = 'https:';
    // `host:80` parses to no port, too.
    else if (!/:80(?:\/|$)/.test(address.slice('http://'.length))) url.port = String(port);
  }
  if (url.hostname === '0.0.0.0' || url.hostname === '[::]') url.hostname = '127.0.0.1';
  return url.href.replace(/\/$/, '').replace(/\/api$/, '');
}

function withHost(text: string): string {
  if (text.startsWith(':')) return /^:\d/.test(text) ? `127.0.0.1${text}` : `[${text}]`;
  // An IPv6 address without brackets has more than one colon.
  return /^[\da-f]{0,4}:[\da-f:.]*:[\da-f:.]*$/i.test(text) ? `[${text}]` : text;
}

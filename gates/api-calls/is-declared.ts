const method = /^(?:get|put|post|delete|options|head|patch|trace)\s+/i;
/** What a string or a declaration leaves open: `{id}`, `${id}`, `:id`, `%s`, `*`. */
const open = /\{|^:|%[sdv]|^\*$/;

/**
 * Whether a declared endpoint is the one that is called: the same path, segment by segment, where either may leave a
 * segment open; the same origin where both say one. A declared path may stand below the base path of a server.
 */
export function isDeclared(endpoint: string, apis: readonly string[]): boolean {
  const called = readEndpoint(endpoint);
  return apis.some((api) => {
    const declared = readEndpoint(api.trim().replace(method, ''));
    if (declared.origin !== undefined && called.origin !== undefined && declared.origin !== called.origin)
      return false;
    const extra = called.segments.length - declared.segments.length;
    if (extra < 0 || (extra > 0 && (called.origin === undefined || declared.origin !== undefined)))
      return false;
    return declared.segments.every((segment, index) => {
      const given = called.segments[index + extra] ?? '';
      return segment === given || (given !== '' && (open.test(segment) || open.test(given)));
    });
  });
}

function readEndpoint(text: string): { readonly origin?: string; readonly segments: readonly string[] } {
  const [, scheme, host, path = ''] = /^(?:(https?|wss?):\/\/([^/?#]*))?(.*)$/is.exec(text) ?? [];
  const segments = path
    .replace(/[?#].*$/s, '')
    .split('/')
    .filter((segment) => segment !== '');
  return host === undefined
    ? { segments }
    : { origin: `${scheme?.toLowerCase().replace('ws', 'http')}://${host.toLowerCase()}`, segments };
}

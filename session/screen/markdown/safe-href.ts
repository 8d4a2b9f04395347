const schemes: readonly string[] = ['http', 'https', 'mailto'];

/**
 * Where a link may lead: an address of the web, a mailbox, or a path of this site. Nothing for every other scheme, and
 * for what a browser would read as another address than a person does.
 */
export function safeHref(target: string): string | undefined {
  if (target === '' || /[\x00-\x20\x7f\\]|^\/\//.test(target)) return undefined;
  const scheme = /^([^/?#:]*):/.exec(target)?.[1];
  return scheme === undefined || schemes.includes(scheme.toLowerCase()) ? target : undefined;
}

/**
 * How a remote repository is named in a statement: `git+` and its URL, without user and password of a web address.
 * `undefined` for what only this machine knows: a path, `file:`.
 */
export function remoteUri(locator: string): string | undefined {
  const plain = locator.replace(/^git\+/, '');
  if (plain === '' || /[^!-~]/.test(plain)) return undefined;
  if (URL.canParse(plain) && /^(?:https?|ssh|git):\/\//i.test(plain)) {
    if (new URL(plain).hostname === '') return undefined;
    const isWeb = /^https?:/i.test(plain);
    // Of a shell account the name is part of the address, its password never.
    return `git+${plain.replace(/^([a-z]+:\/\/)([^/?#:]*)[^/?#]*@/i, isWeb ? '$1' : '$1$2@')}`;
  }
  // Without a user, a host needs a dot: `file:x` and `C:x` are paths.
  const scp = /^(?:([\w.-]+)@([\w.-]+)|([\w.-]+\.[\w-]+)):(?!\/\/)(.+)$/.exec(plain);
  if (!scp) return undefined;
  const [, user, host, alone, path = ''] = scp;
  return `git+ssh://${user === undefined ? alone : `${user}@${host}`}/${path.replace(/^\//, '')}`;
}

const hosts: Readonly<Record<string, string>> = {
  github: 'https://github.com/',
  gitlab: 'https://gitlab.com/',
  bitbucket: 'https://bitbucket.org/',
  gist: 'https://gist.github.com/',
};

/**
 * A repository or file URL as it may be shown and compared: no credentials, query, fragment or `git+`. Empty for what
 * is none.
 */
export function cleanUrl(text: string): string {
  const hosted = /^(github|gitlab|bitbucket|gist):([^#]+)/i.exec(text);
  if (hosted?.[1] && hosted[2]) return `${hosts[hosted[1].toLowerCase()]}${hosted[2]}`;
  const scp = /^(?:[\w.-]+@)?([\w.-]+):(?!\/\/)([^#?]+)/.exec(text);
  if (scp && !/^\w+:\//.test(text)) return `ssh://${scp[1]}/${scp[2]}`;
  const bare = text.replace(/^(?:git|scm|hg|svn|registry|sparse|url|bzr)\+(?=[a-z]+:)/i, '');
  if (!URL.canParse(bare)) return '';
  const url = new URL(bare);
  url.username = '';
  url.password = '';
  url.search = '';
  url.hash = '';
  // A hosted archive of a commit stands for its repository.
  const archive = /^https:\/\/codeload\.github\.com\/([^/]+\/[^/]+)\/tar\.gz\//.exec(url.href)?.[1];
  return archive === undefined ? url.href.slice(0, 2048) : `https://github.com/${archive}`;
}

/**
 * Equal for equal repositories however they are written: host and path, without `.git`. A hosted archive stands for its
 * repository.
 */
export function repositoryKey(origin: string): string {
  const url = URL.canParse(origin) ? new URL(origin) : undefined;
  if (!url) return origin;
  const host = url.host.replace(/^codeload\./, '').toLowerCase();
  const path = url.pathname
    .replace(/^\/+/, '')
    .replace(/\/(?:tar\.gz|legacy\.tar\.gz|zip|tarball|zipball|archive)\/.*$/, '')
    .replace(/\/+$/, '')
    .replace(/\.git$/, '');
  return `${host}/${/^(?:github|gitlab|bitbucket)\./.test(host) ? path.toLowerCase() : path}`;
}

/** Scheme and host of a URL; empty for what is none. */
export function hostOf(text: string): string {
  // Plain addresses need no parser: a lockfile has tens of thousands.
  const plain = /^(https?:\/\/[a-z0-9-]+(?:\.[a-z0-9-]+)*)\//.exec(text)?.[1];
  if (plain !== undefined) return plain;
  return URL.canParse(text) ? `${new URL(text).protocol}//${new URL(text).host}` : '';
}

/** A requirement as it may be shown and compared: what stands before `@` in an address is left out. */
export function withoutCredentials(requirement: string): string {
  return requirement.includes('://') ? requirement.replace(/\/\/[^/@\s]+@/g, '//') : requirement;
}

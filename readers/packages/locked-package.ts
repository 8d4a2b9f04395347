/* Types of locked packages, and the comparison of their addresses. */
export type Ecosystem = 'npm' | 'pypi' | 'cargo' | 'go' | 'maven' | 'rubygems' | 'packagist';

/**
 * One third-party package that a repository requires. The project itself and its workspace members are not included.
 */
export interface LockedPackage {
  readonly ecosystem: Ecosystem;
  /**
   * As the ecosystem compares names: PEP 503 for pypi, lower case for packagist, `group:artifact` for maven; of an
   * alias the real name.
   */
  readonly name: string;
  /** Empty if no file pins a version; `requirement` then holds the requested range. */
  readonly version: string;
  /** Package URL; without a version where there is none. Git and URL sources are qualifiers, free of credentials. */
  readonly purl: string;
  /** Required by the project or one of its members, not only by another package. */
  readonly direct: boolean;
  readonly scope: 'runtime' | 'development' | 'optional' | 'unknown';
  /** As the file states it; not necessarily SPDX. */
  readonly license?: string;
  /** `value` is lower-case hex; of `h1` (go.sum, a hash over file hashes) it is base64 as written. */
  readonly integrity?: { readonly algorithm: string; readonly value: string };
  /** The file pins hashes for the package's files, even if there is no single hash of the whole. */
  readonly isHashed?: boolean;
  /** Absent if the file does not state it. */
  readonly source?: 'registry' | 'git' | 'path' | 'url';
  /** Where from, without credentials, query and fragment: repository, URL, path, or scheme and host of a registry. */
  readonly origin?: string;
  /** The manifest's requirement if no version is pinned (`^1.0`, `[1,2)`). */
  readonly requirement?: string;
  /** npm: the package that is actually fetched, if it is another one. */
  readonly resolvedAs?: string;
  /** Purls of packages in the same file, sorted, without duplicates. */
  readonly dependsOn: readonly string[];
  readonly declaredIn: string;
  /** From 1. */
  readonly line?: number;
}

/** The combined content of all manifests and lockfiles. */
export interface PackageSet {
  /** Sorted by ecosystem, purl and file; a purl comes once for each file. */
  readonly packages: readonly LockedPackage[];
  /** Files that cannot be read, or not completely. While there are any, the set is not complete. */
  readonly problems: readonly DependencyProblem[];
  /** Files that are programs and were read as far as their text goes (build.gradle, Gemfile). */
  readonly notes: readonly DependencyProblem[];
}

export interface DependencyProblem {
  readonly path: string;
  readonly reason: string;
}

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
  // A hosted archive of a commit counts as its repository.
  const archive = /^https:\/\/codeload\.github\.com\/([^/]+\/[^/]+)\/tar\.gz\//.exec(url.href)?.[1];
  return archive === undefined ? url.href.slice(0, 2048) : `https://github.com/${archive}`;
}

/**
 * Returns equal keys for equal repositories, however they are written: host and path, without `.git`. A hosted
 * archive counts as its repository.
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

/** Makes a requirement safe to show and compare: removes the text before `@` in a URL. */
export function withoutCredentials(requirement: string): string {
  return requirement.includes('://') ? requirement.replace(/\/\/[^/@\s]+@/g, '//') : requirement;
}

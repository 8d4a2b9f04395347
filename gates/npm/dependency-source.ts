/** Where an npm dependency comes from. `id` is equal for equal sources whatever the version. */
export interface DependencySource {
  readonly kind: 'registry' | 'git' | 'url' | 'tarball' | 'local';
  readonly id: string;
  /** Package name at a registry; of an alias the real one. */
  readonly name?: string;
}

const hosted = /^(?:github|gitlab|bitbucket|gist):/;
const shorthand = /^[\w.-]+\/[\w.-]+(?:#.*)?$/;

/** What a dependency field's `name: spec` pair asks for (npm-package-arg's forms). */
export function dependencySource(name: string, spec: string): DependencySource {
  const text = spec.trim();
  if (text.startsWith('npm:')) {
    const target = text.slice(4);
    const at = target.indexOf('@', 1);
    return registry(at === -1 ? target : target.slice(0, at));
  }
  if (text.startsWith('workspace:')) return { kind: 'local', id: `local:${name}` };
  if (/^(?:git(?:\+\w+)?:|ssh:|git@)/.test(text) || hosted.test(text) || shorthand.test(text))
    return git(text);
  if (/^https?:/i.test(text))
    return /\.git(?:#|$)/.test(text) ? git(text) : { kind: 'url', id: `url:${text}` };
  if (/^(?:file:|link:|portal:|\.{0,2}\/|~\/|[A-Za-z]:[\\/])/.test(text)) {
    const isTarball = /\.(?:tgz|tar|tar\.gz)$/i.test(text);
    return isTarball ? { kind: 'tarball', id: `tarball:${text}` } : { kind: 'local', id: `local:${name}` };
  }
  return registry(name);
}

function registry(name: string): DependencySource {
  return { kind: 'registry', id: `npm:${name}`, name };
}

function git(spec: string): DependencySource {
  return { kind: 'git', id: `git:${spec.replace(/#.*$/s, '')}` };
}

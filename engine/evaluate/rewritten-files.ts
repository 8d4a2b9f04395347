import { compileGlob } from '../../core/base/glob.ts';
import type { Finding } from '../../core/interfaces/finding.ts';
import { fileKind } from '../../readers/packages/file-kind.ts';

const maxNamed = 20;

/**
 * Returns findings about a check that changed tracked files: it may have checked content that is never committed.
 * Paths in `[workspace] rewrites` are ignored. A changed lockfile is only a warning, because package managers
 * reformat it. Pure.
 */
export function rewrittenFindings(
  changed: readonly string[],
  rewrites: readonly string[],
): readonly Finding[] {
  const allowed = rewrites.map(compileGlob);
  const others = changed.filter((path) => !allowed.some((glob) => glob.matches(path)));
  const isLockfile = (path: string): boolean => fileKind(path)?.role === 'lockfile';
  const lockfiles = others.filter(isLockfile);
  const files = others.filter((path) => !isLockfile(path));
  return [
    ...(files.length > 0 ? [finding('error', files)] : []),
    ...(lockfiles.length > 0 ? [finding('warning', lockfiles)] : []),
  ];
}

function finding(severity: Finding['severity'], paths: readonly string[]): Finding {
  const named = paths.slice(0, maxNamed);
  const more = paths.length > named.length ? ` and ${paths.length - named.length} more` : '';
  const said = named.map((path) => `\`${path}\``).join(', ');
  return {
    rule: 'check-outcome',
    severity,
    message: `expected tracked files to be what they were when it started, found others at ${said}${more}: it may have tested other content than what is committed; a check that writes them on purpose needs them in \`[workspace] rewrites\``,
    detail: { code: 'CHECK_REWROTE', paths: named, count: paths.length },
  };
}

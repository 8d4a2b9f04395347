import { posix } from 'node:path';
import { scanSource } from '../../test/architecture/scan-source.ts';

/** The files of the project, and whether a directory is one of it. Relative to it, POSIX. */
export interface ProjectFiles {
  readonly isFile: (path: string) => boolean;
  readonly isDirectory: (path: string) => boolean;
}

/** A path in quotes: relative to the file, or to the project; a bare name is nobody's. */
const quoted = /(['"`])((?:\.{1,2}\/)+[\w@.-]*(?:\/[\w@.-]+)*\/?|[\w@.-]+(?:\/[\w@.-]+)+\/?)\1/g;
/** The directory of a path that is put together: `./rules/${id}.ts`. */
const composed = /`((?:\.{1,2}\/)+(?:[\w@.-]+\/)*)[\w@.-]*\$\{/g;

/**
 * What a source stands on: what it imports while it runs, and files and directories that it names in quotes (programs
 * that it starts, modules of threads, fixtures). A directory at the top of the project says nothing; types are gone
 * when it runs.
 */
export function needsOf(
  path: string,
  text: string,
  { isFile, isDirectory }: ProjectFiles,
): readonly string[] {
  const types = new Set(
    scanSource(text).imports.flatMap(({ kind, specifier }) => (kind === 'type' ? [specifier] : [])),
  );
  const needs = new Set<string>();
  const names = [
    ...[...text.matchAll(quoted)].map(([, , name = '']) => name),
    ...[...text.matchAll(composed)].map(([, name = '']) => name),
  ];
  for (const name of names) {
    if (types.has(name)) continue;
    const relative = name.startsWith('.');
    const target = posix
      .normalize(relative ? posix.join(posix.dirname(path), name) : name)
      .replace(/\/$/, '');
    // A file of tests is named to say where the proof is.
    if (isFile(target) && !target.endsWith('.test.ts')) needs.add(target);
    else if (target.includes('/') && isDirectory(target)) needs.add(`${target}/`);
  }
  needs.delete(path);
  return [...needs];
}

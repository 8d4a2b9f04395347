import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { type ScannedSource, scanSource } from './scan-source.ts';

/** One source file of the project. */
export interface HouseFile extends ScannedSource {
  /** Relative to the project, POSIX. */
  readonly path: string;
  readonly text: string;
}

export interface Edge {
  readonly from: string;
  readonly to: string;
  readonly specifier: string;
}

/** The whole project as the rules see it. */
export interface House {
  readonly files: readonly HouseFile[];
  /** Imports between project files, type imports included, as the compiler resolved them. */
  readonly edges: readonly Edge[];
  readonly manifest: Manifest;
}

/** What the rules need of package.json. */
export interface Manifest {
  readonly dependencies: Readonly<Record<string, string>>;
  readonly devDependencies: Readonly<Record<string, string>>;
  readonly exports: Readonly<Record<string, { readonly default: string } | undefined>>;
}

/** Runs the compiler and reads every file that it read. */
export function readHouse(root: string): House {
  const compiler = join(root, 'node_modules/typescript/bin/tsc');
  const run = spawnSync(process.execPath, [compiler, '-p', root, '--noCheck', '--explainFiles'], {
    cwd: root,
    encoding: 'utf8',
    maxBuffer: 256 * 1024 * 1024,
  });
  const { paths, edges } = parseExplained(run.stdout, (path) => relative(root, join(root, path)));
  return {
    files: paths.map((path) => toHouseFile(path, readFileSync(join(root, path), 'utf8'))),
    edges,
    manifest: JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')),
  };
}

/** A file as the rules see it. */
export function toHouseFile(path: string, text: string): HouseFile {
  return { path, text, ...scanSource(text) };
}

/**
 * Project files and their imports out of `tsc --explainFiles`. Dependencies and the compiler's libraries are left out.
 */
export function parseExplained(
  output: string,
  toProjectPath: (path: string) => string = (path) => path,
): { readonly paths: readonly string[]; readonly edges: readonly Edge[] } {
  const paths = new Set<string>();
  const edges: Edge[] = [];
  let current: string | undefined;
  for (const line of output.split('\n')) {
    const header = /^(\S.*\.(?:[cm]?[tj]s|json))$/.exec(line);
    if (header) {
      const path = toProjectPath(header[1] ?? '');
      current = isProjectPath(path) ? path : undefined;
      if (current !== undefined) paths.add(current);
      continue;
    }
    const reason = /^ {3}Imported via ["'](.+?)["'] from file ["'](.+?)["']/.exec(line);
    if (!reason || current === undefined) continue;
    const from = toProjectPath(reason[2] ?? '');
    if (isProjectPath(from)) edges.push({ from, to: current, specifier: reason[1] ?? '' });
  }
  return { paths: [...paths].filter((path) => !path.endsWith('.json')).sort(), edges };
}

function isProjectPath(path: string): boolean {
  return !path.startsWith('..') && !path.startsWith('/') && !path.split('/').includes('node_modules');
}

/* Opens the configured scanners and verifies their digests. */
import { createHash } from 'node:crypto';
import { accessSync, constants, realpathSync, statSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { basename, dirname, isAbsolute, join } from 'node:path';
import { sha256Hex } from '../../core/base/canonical.ts';
import { WritError } from '../../core/base/errors.ts';
import type { SandboxRequest } from '../../core/interfaces/sandbox.ts';
import type { ScanRecord } from '../../core/interfaces/scanner.ts';
import type { DigestedThing } from '../../core/interfaces/sealing.ts';
import { digestDirectory, hashOpenFile } from '../../workspace/git/directory-digest.ts';
import type { GitDirectory } from '../../workspace/git/git.ts';
import { readBlobs } from '../../workspace/git/read-objects.ts';
import { listTree, type TreeEntry } from '../../workspace/git/tree.ts';
import type { ScannerConfig } from '../config/config.ts';
import { scannerCheckId } from './checks.ts';

/** `[scanner.NAME]`, of which everything that is pinned was compared with its digest. */
export interface OpenScanner {
  readonly config: ScannerConfig;
  readonly inputs: ScanRecord['inputs'];
  /** Its rule files in the tree of the policy commit. */
  readonly ruleEntries: readonly TreeEntry[];
  /** What the sandbox shows it, and which directory of programs comes first. */
  readonly shown: Pick<SandboxRequest, 'binds' | 'tools'>;
}

export interface OpenScanners {
  /** By the id of the check that runs it. */
  readonly byCheck: ReadonlyMap<string, OpenScanner>;
  readonly dependencies: readonly DigestedThing[];
}

const limits = { maxEntries: 500_000, maxBytes: 8 * 1024 ** 3 };
const maxRuleBytes = 16 * 1024 * 1024;

/**
 * Compares the program and the read-only directories of each scanner with their digests, and reads its rule files out
 * of the tree of the policy commit. SCANNER_CHANGED.
 */
export async function openScanners(
  repository: GitDirectory,
  policyTree: string,
  configured: ReadonlyMap<string, ScannerConfig>,
  searchPath = process.env.PATH ?? '',
): Promise<OpenScanners> {
  const byCheck = new Map<string, OpenScanner>();
  const dependencies: DigestedThing[] = [];
  if (configured.size === 0) return { byCheck, dependencies };
  const entries = await listTree(repository, policyTree);
  for (const [name, config] of configured) {
    const inputs: { path: string; sha256: string }[] = [];
    for (const { path, sha256 } of config.readOnly) {
      const found = await digestDirectory(path, { within: path, ...limits }).catch(() => undefined);
      const state =
        found === undefined ? 'no directory that can be read' : 'fault' in found ? found.fault : found.sha256;
      if (state !== sha256) throw changed(name, `the directory \`${path}\``, sha256, state);
      inputs.push({ path, sha256 });
    }
    const program = await findPinned(config, searchPath);
    if (program !== undefined) inputs.push(program);
    const ruleEntries = entries.filter(({ path }) => isBelow(path, config.ruleFiles));
    const paths = ruleEntries.map(({ path }) => path);
    for (const [path, bytes] of await readBlobs(repository, policyTree, paths, maxRuleBytes))
      inputs.push({ path, sha256: sha256Hex(bytes) });
    const binds = config.readOnly.map(({ path }) => ({ source: path, target: path, writable: false }));
    const tools = program === undefined ? [] : [directoryOf(program.path)];
    byCheck.set(scannerCheckId(name), { config, inputs, ruleEntries, shown: { binds, tools } });
    for (const { path, sha256 } of inputs)
      dependencies.push({ name: path, uri: `urn:writ:scanner:${name}`, digest: { sha256 } });
  }
  return { byCheck, dependencies };
}

/** Whether a path is one of these, or below one. */
export function isBelow(path: string, places: readonly string[]): boolean {
  return places.some((place) => path === place || path.startsWith(`${place}/`));
}

/** The program of that name on PATH that has the pinned digest: the sandbox then finds that one first. */
async function findPinned(
  { name, argv: [program = ''], sha256 }: ScannerConfig,
  searchPath: string,
): Promise<{ readonly path: string; readonly sha256: string } | undefined> {
  if (sha256 === undefined) return undefined;
  const places = program.includes('/')
    ? [program]
    : [...new Set(searchPath.split(':'))].filter(isAbsolute).map((directory) => join(directory, program));
  const found: string[] = [];
  for (const path of places) {
    if (!isProgram(path)) continue;
    const digest = await hashFile(path);
    if (digest === sha256) return { path, sha256 };
    found.push(digest);
  }
  throw changed(name, `the program \`${program}\``, sha256, [...new Set(found)].join(', ') || 'none on PATH');
}

/** Behind links, as long as the program keeps its name: programs choose what they do by it. */
function directoryOf(path: string): string {
  const real = realpathSync(path);
  return basename(real) === basename(path) ? dirname(real) : realpathSync(dirname(path));
}

function isProgram(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return statSync(path).isFile();
  } catch {
    return false;
  }
}

async function hashFile(path: string): Promise<string> {
  const file = await open(path);
  try {
    return await hashOpenFile(file, createHash('sha256'), Buffer.allocUnsafe(256 * 1024));
  } finally {
    await file.close();
  }
}

function changed(scanner: string, what: string, expected: string, found: string): WritError {
  return new WritError('SCANNER_CHANGED', {
    message: `scanner \`${scanner}\`: ${what} differs from the digest in \`.writ/config.toml\` at the policy commit: expected ${expected}, found ${found}`,
    detail: { scanner, expected, found },
    hints: ['install the pinned version, or pin this version in a separate commit'],
  });
}

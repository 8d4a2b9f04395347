/* Detects the test command of the project in a directory. */
import { existsSync } from 'node:fs';
import { lstat, opendir } from 'node:fs/promises';
import { join } from 'node:path';
import { readPlain } from '../../core/base/files.ts';
import {
  type ProposedCheck,
  type PythonTests,
  projectFiles,
  proposeCheck,
  pythonTestName,
} from '../../spec/propose-check.ts';

const maxFileBytes = 1024 * 1024;

/** Detects the test command of the project in this directory from its files; `undefined` if none is found. */
export async function readProposedCheck(root: string): Promise<ProposedCheck | undefined> {
  const files = new Map<(typeof projectFiles)[number], string>();
  for (const name of projectFiles) {
    // Of a lockfile, which can be large, only its presence counts.
    const isLockfile = /[.-]lock\b/.test(name);
    const isThere = isLockfile && (await lstat(join(root, name)).catch(() => undefined))?.isFile() === true;
    const bytes = isLockfile ? undefined : readPlain(join(root, name), maxFileBytes).bytes;
    if (isThere || bytes !== undefined) files.set(name, bytes?.toString('utf8') ?? '');
  }
  return inEnvironment(root, proposeCheck(files, await pythonTests(root)));
}

/** The check with the Python of the project's virtual environment, if it has one: its packages are only there. */
function inEnvironment(root: string, check: ProposedCheck | undefined): ProposedCheck | undefined {
  const python = ['.venv/bin/python', 'venv/bin/python'].find((path) => existsSync(join(root, path)));
  if (python === undefined || check?.allowed?.startsWith('python3 ') !== true) return check;
  const own = (words: string): string => words.replace(/^python3/, python);
  return { ...check, command: own(check.command), allowed: own(check.allowed) };
}

const mostEntries = 1000;
const mostRead = 20;

/** The tests in a usual directory that holds files which pytest finds. */
async function pythonTests(root: string): Promise<PythonTests | undefined> {
  for (const directory of ['tests', 'tests/unit', 'test', '.']) {
    const entries = await opendir(join(root, directory)).catch(() => undefined);
    if (entries === undefined) continue;
    const names: string[] = [];
    let left = mostEntries;
    for await (const entry of entries) {
      if (entry.isFile() && pythonTestName.test(entry.name)) names.push(entry.name);
      left -= 1;
      if (left === 0) break;
    }
    if (names.length === 0) continue;
    const read = (path: string) => readPlain(join(root, path), maxFileBytes).bytes;
    const texts = names.slice(0, mostRead).map((name) => read(join(directory, name)));
    const parents =
      directory === '.' ? [] : directory.split('/').map((_, at, parts) => parts.slice(0, at + 1));
    const packages = parents.map((parts) => read(join(...parts, '__init__.py')));
    return {
      directory,
      areUnittests:
        names.every((name) => name.startsWith('test_')) &&
        texts.every((text) => text !== undefined && isUnittest(text.toString('utf8'))),
      isPackage: packages.every((text) => text !== undefined),
    };
  }
  return undefined;
}

function isUnittest(text: string): boolean {
  return /^\s*(?:import|from) unittest\b/m.test(text) && !/^\s*(?:import|from) pytest\b/m.test(text);
}

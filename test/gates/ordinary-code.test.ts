import { spawnSync } from 'node:child_process';
import { cpSync, globSync, statSync } from 'node:fs';
import { join } from 'node:path';
import type { Test } from 'tap';
import { commands } from '../../bin/command-table.ts';
import { runLine } from '../bin/host.ts';
import { long } from '../rooms/long.ts';

interface Found {
  readonly rule: string;
  readonly severity: string;
  readonly path: string;
  readonly line: number;
}

/** Errors of `writ scan` over copies of files, every line counting as added. */
async function scanCopies(t: Test, root: string, files: readonly string[]): Promise<readonly Found[]> {
  const cwd = t.testdir({});
  for (const file of files) cpSync(join(root, file), join(cwd, file));
  const env = { PATH: process.env.PATH ?? '', HOME: cwd };
  spawnSync('git', ['init', '--quiet'], { cwd, env });
  const { out } = await runLine(['--json', 'scan', '.'], commands, { cwd, env });
  const { data } = JSON.parse(out) as { data: { files: number; findings: readonly Found[] } };
  t.equal(data.files, files.length, 'every file is scanned');
  return data.findings.filter(({ severity }) => severity === 'error');
}

long('1,000 files of 20 npm packages: only what compiles text is found', async (t) => {
  const root = new URL('../../node_modules/', import.meta.url).pathname;
  const packages = `acorn ajv argparse cac chalk debug eslint glob graceful-fs iconv-lite js-yaml json5 lodash
    lru-cache marked minimatch preact react semver ws yaml zod`.split(/\s+/);
  const files = packages.flatMap((name) =>
    globSync(`${name}/**/*.{js,mjs,cjs}`, { cwd: root, exclude: (path) => path.endsWith('node_modules') })
      .filter((path) => statSync(join(root, path)).size > 0 && statSync(join(root, path)).size < 200_000)
      .sort()
      .slice(0, 100),
  );
  t.ok(files.length > 700, `${files.length} files`);
  const found = await scanCopies(t, root, files);
  t.same(
    found.map(({ rule, path, line }) => `${rule} ${path}:${line}`),
    [
      'no-direct-eval ajv/dist/compile/index.js:89',
      'no-direct-eval ajv/dist/compile/jtd/parse.js:50',
      'no-direct-eval ajv/dist/compile/jtd/serialize.js:50',
      'no-direct-eval json5/dist/index.js:16',
      'no-direct-eval json5/dist/index.min.js:1',
      'no-direct-eval zod/v4/core/compile.cjs:215',
      'no-direct-eval zod/v4/core/compile.js:184',
      'no-direct-eval zod/v4/core/doc.cjs:38',
      'no-direct-eval zod/v4/core/doc.js:35',
      'no-direct-eval zod/v4/core/util.cjs:299',
      'no-direct-eval zod/v4/core/util.js:229',
    ],
  );
});

/**
 * Reads findings `[[path, line, rule], …]`. Prints those in whose call Python's own tokenizer finds no name that the
 * rule is about.
 */
const confirm = `
import ast, io, json, sys, tokenize
names = {
    'no-direct-eval': 'eval exec compile system popen Popen subprocess_shell run_module run_path interact getoutput check_output call run Pdb'.split(),
    'sast': 'marshal pickle load loads Unpickler mktemp yaml'.split(),
}
for path, line, rule in json.load(sys.stdin):
    source = open(path, encoding='utf-8').read()
    inside = [n for n in ast.walk(ast.parse(source)) if isinstance(n, ast.Call) and n.lineno <= line <= n.end_lineno]
    last = max([n.end_lineno for n in inside], default=line)
    first = min([n.lineno for n in inside], default=line)
    words = [token.string for token in tokenize.generate_tokens(io.StringIO(source).readline)
             if token.type == tokenize.NAME and first <= token.start[0] <= last]
    if not set(words) & set(names.get(rule, [])): print(rule, path, line)
`;

const python = spawnSync('python3', ['-c', 'import sysconfig; print(sysconfig.get_paths()["stdlib"])'], {
  encoding: 'utf8',
});
const library = python.status === 0 ? python.stdout.trim() : undefined;

long(
  '600 files of the Python library: each finding is a call that Python sees, too',
  { skip: library === undefined && 'python3 is missing' },
  async (t) => {
    const root = library ?? '';
    const files = globSync('**/*.py', { cwd: root })
      .filter((path) => !/(?:^|\/)(?:site-packages|dist-packages|tests?|idlelib|lib2to3\/tests)\//.test(path))
      .filter((path) => statSync(join(root, path)).size > 0)
      .sort()
      .slice(0, 600);
    t.ok(files.length > 300, `${files.length} files`);
    const found = await scanCopies(t, root, files);
    t.ok(found.length > 0);
    const said = spawnSync('python3', ['-c', confirm], {
      cwd: root,
      encoding: 'utf8',
      input: JSON.stringify(found.map(({ path, line, rule }) => [path, line, rule])),
    });
    t.equal(said.stdout + said.stderr, '');
  },
);

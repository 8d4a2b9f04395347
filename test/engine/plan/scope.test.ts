import t from 'tap';
import { effectiveScope, pathTokensOf } from '../../../engine/plan/scope.ts';
import { inScope, scopeVerdict } from '../../../spec/scope-verdict.ts';

type Repo = { type: 'git' | 'monorepo' | 'local'; locator: string };
const git: Repo = { type: 'git', locator: 'https://example.com/x.git' };

function specOf(inScope: string[], outOfScope: string[] = [], files: string[] = [], repo = git) {
  return { intent: { inScope, outOfScope, touchHints: { files } }, metadata: { target: { repo } } };
}

t.test('finds path-like words in prose and nothing else', async (t) => {
  const rows: readonly (readonly [string, readonly string[]])[] = [
    ['the logic in src/a.ts', ['src/a.ts']],
    ['Fix `src/auth/` (and test/auth/*.test.js), nothing else.', ['src/auth/', 'test/auth/*.test.js']],
    ['see https://example.com/a/b.html or mail me@example.com', []],
    ['POST /login and GET /api/users', []],
    ['change package.json and README.md, not Node.js itself', ['package.json', 'README.md']],
    ['console.log(x) and req.body and process.env', []],
    ['never ../../etc/passwd nor /etc/passwd', []],
    ['version 1.2 or v2.x, e.g. a bug i.e. this one.', []],
    ['"docs/**" only', ['docs/**']],
    ['in ./lib/x.ts.', ['lib/x.ts']],
    ['the Dockerfile and .gitignore', ['Dockerfile', '.gitignore']],
    ['add a license header', []],
    ['what is src/a.ts?', ['src/a.ts']],
    ['why ** or ?', ['**']],
    ['src/straße/naïve.ts', ['src/straße/naïve.ts']],
  ];
  for (const [entry, expected] of rows)
    t.same(pathTokensOf(entry, new Set(['src', 'docs', 'lib', 'test'])), expected, entry);
});

t.test('top-level directory names distinguish paths from ordinary words', async (t) => {
  const names = new Set(['src', 'lib']);
  t.same(pathTokensOf('src', names), ['src']);
  t.same(pathTokensOf('authentication', names), []);
  t.same(pathTokensOf('the lib/http layer and read/write errors', names), ['lib/http']);
  t.same(pathTokensOf('only `lib` changes', names), ['lib']);
  t.same(pathTokensOf('src'), ['src'], 'unknown names count as paths');
});

t.test('hints and `inScope` add up, `outOfScope` wins, and other paths are outside', async (t) => {
  const scope = effectiveScope(
    specOf(['the logic in src/a.ts'], ['src/legacy/ stays as it is'], ['src/legacy', 'test/**']),
  );
  t.same(scope, {
    write: ['src/legacy', 'test/**', 'src/a.ts'],
    forbidden: ['src/legacy/'],
    wholeRepository: false,
  });
  t.equal(scopeVerdict(scope, 'src/a.ts'), 'in');
  t.equal(scopeVerdict(scope, 'test/x/y.ts'), 'in');
  t.equal(scopeVerdict(scope, 'src/legacy/x.ts'), 'forbidden');
  t.equal(scopeVerdict(scope, 'src/b.ts'), 'outside');
  t.equal(scopeVerdict(scope, 'src/a.tsx'), 'outside');
});

t.test('`dir`, `dir/` and `dir/**` mean the subtree, as does a name below a wildcard', async (t) => {
  for (const pattern of ['lib', 'lib/', 'lib/**']) {
    const scope = effectiveScope(specOf(['x y'], [], [pattern]));
    t.equal(inScope(scope, 'lib/a/b.ts'), true, pattern);
    t.equal(inScope(scope, 'library/a.ts'), false, pattern);
  }
  const scope = effectiveScope(specOf(['x y'], [], ['packages/*/src', 'etc/*']));
  t.equal(inScope(scope, 'packages/a/src/x/y.ts'), true);
  t.equal(inScope(scope, 'packages/a/b/src/y.ts'), false);
  t.equal(inScope(scope, 'etc/a'), true);
  t.equal(inScope(scope, 'etc/a/b'), false);
});

t.test('a file name with brackets matches literally and as a glob', async (t) => {
  const scope = effectiveScope(specOf(['x y'], [], ['app/[id]/page.tsx']));
  t.equal(inScope(scope, 'app/[id]/page.tsx'), true);
  t.equal(inScope(scope, 'app/d/page.tsx'), true);
  t.equal(inScope(scope, 'app/x/page.tsx'), false);
});

t.test('a spec that names no path covers the whole repository except forbidden paths', async (t) => {
  const scope = effectiveScope(specOf(['make login safer'], ['infra/**']));
  t.equal(scope.wholeRepository, true);
  t.equal(inScope(scope, 'any/where.ts'), true);
  t.equal(inScope(scope, 'infra/main.tf'), false);
});

t.test('a hint that leaves the repository adds no path to the scope', async (t) => {
  const scope = effectiveScope(specOf(['make login safer'], [], ['../x', '/etc/**']));
  t.same(scope, { write: [], forbidden: [], wholeRepository: false });
  t.equal(inScope(scope, 'a.ts'), false);
});

t.test('a lockfile is in scope with its manifest in the same directory, unless forbidden', async (t) => {
  const scope = effectiveScope(
    specOf(['package.json and api/go.mod and Cargo.toml and py/pyproject.toml'], ['Cargo.lock']),
  );
  for (const path of [
    'package-lock.json',
    'pnpm-lock.yaml',
    'yarn.lock',
    'api/go.sum',
    'py/poetry.lock',
    'py/uv.lock',
  ])
    t.equal(inScope(scope, path), true, path);
  for (const path of ['web/package-lock.json', 'go.sum', 'Cargo.lock', 'constructor'])
    t.equal(inScope(scope, path), false, path);
});

t.test('a lockfile is outside the scope if its manifest is forbidden', async (t) => {
  const scope = effectiveScope(specOf(['package.json and api/go.mod'], ['api/go.mod']));
  t.equal(scopeVerdict(scope, 'package-lock.json'), 'in');
  t.equal(scopeVerdict(scope, 'api/go.mod'), 'forbidden');
  t.equal(scopeVerdict(scope, 'api/go.sum'), 'outside');
});

t.test('the locator of a monorepo is the root of the scope', async (t) => {
  const repo: Repo = { type: 'monorepo', locator: '//services/api' };
  const whole = effectiveScope(specOf(['make login safer'], [], [], repo));
  t.same(whole, { write: ['services/api/'], forbidden: [], wholeRepository: false });
  t.equal(inScope(whole, 'services/api/a/b.ts'), true);
  t.equal(inScope(whole, 'services/apis/b.ts'), false);
  const part = effectiveScope(specOf(['src/a.ts and services/api/b.ts'], ['src/x/'], ['**/*.md'], repo));
  t.equal(inScope(part, 'services/api/src/a.ts'), true);
  t.equal(inScope(part, 'services/api/b.ts'), true);
  t.equal(inScope(part, 'src/a.ts'), false);
  t.equal(inScope(part, 'readme.md'), false);
  t.equal(inScope(part, 'services/api/docs/x.md'), true);
});

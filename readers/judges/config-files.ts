/* Knows which configuration files configure which tools, as data. */
import { isFixture } from './rules.ts';
import { directoryOf, placeTest, type VerifyingTree } from './tree.ts';

/**
 * Configuration files of programs that checks run, as programs and file names. `*` is any part of a name, `{a,b}` a
 * choice. A file name has no directory, or only its last one.
 */
const families: readonly (readonly [programs: RegExp, files: RegExp])[] = Object.entries({
  'jest ts-jest react-scripts craco':
    'jest*.{config,setup,preset,transform}* jest-*.{js,ts,jsx,tsx,mjs,cjs,mts,cts,json} setupTests.{js,jsx,ts,tsx}',
  'jest ts-jest babel-jest babel-node @babel/register @swc/jest @swc/register @swc-node swc react-scripts craco':
    'babel.config.* .babelrc* .swcrc',
  'vitest vite': 'vite*.{config,workspace,setup,projects}.* vitest*.{js,ts,mjs,cjs,mts,cts,json}',
  '{,_}mocha': '.mocharc* mocha.opts',
  ava: 'ava.config.*',
  tap: '.taprc',
  'jasmine ng': 'jasmine*.{json,js,ts,mjs,cjs,mts,cts} angular.json',
  'karma ng': 'karma*.conf{,ig}.*',
  playwright: 'playwright*.config.*',
  cypress: 'cypress.{json,config.*} support/{e2e,index,component,commands}.{js,ts,jsx,tsx,mjs,cjs,mts,cts}',
  'nyc c8 istanbul': '{.nycrc,.c8rc}* nyc.config.* .istanbul.{yml,yaml}',
  stryker: 'stryker*.*',
  'tsc tsx ts-node ts-jest vitest vue-tsc tsup mocha jest esbuild swc tsd attw bun deno esbuild-register esbuild-runner @swc-node tsconfig-paths vite-tsconfig-paths @esbuild-kit':
    'tsconfig*.json',
  'eslint xo standard next ng': '.eslintrc* eslint.config.* .eslintignore .xo-config*',
  'biome rome': '{biome,rome}.json{,c}',
  'prettier eslint': '.prettierrc* prettier.config.* .prettierignore',
  // ESLint does not read it.
  'prettier shfmt ktlint dotnet': '.editorconfig',
  // Mocks of packages, which Jest uses without an explicit request.
  'jest react-scripts craco': '__mocks__/*',
  'oxlint dprint stylelint knip madge depcruise dependency-cruiser markdownlint* cspell commitlint lint-staged publint size-limit':
    '{.,}oxlintrc.json {.,}dprint.json{,c} .stylelintrc* stylelint.config.* .stylelintignore knip.* .madgerc .dependency-cruiser* .markdownlint* .cspell* cspell.* .commitlintrc* commitlint.config.* .lintstagedrc* .size-limit*',
  'npm npx pnpm pnpx yarn bun bunx corepack':
    '.npmrc .yarnrc{,.yml} .pnp.{js,cjs,mjs} .pnpmfile.cjs pnpm-workspace.yaml bunfig.toml',
  'node npm npx pnpm yarn bun jest vitest {,_}mocha ava tap nyc c8 eslint prettier xo standard tsx ts-node':
    'package.json',
  deno: 'deno.json{,c}',
  'node dotenv docker-compose bun python* pytest rails rspec php vitest vite jest':
    '.env{,.test,.ci,.local,.testing,.test.local}',
  'pytest py.test python* tox nox coverage poe taskipy hatch pdm rye cibuildwheel mutmut':
    '{.,}pytest.{ini,toml} conftest.py .coveragerc tox.ini noxfile.py setup.cfg pyproject.toml {site,user}customize{.py,/__init__.py} *.{dist,egg}-info/entry_points.txt',
  'ruff flake8 pylint mypy pyright basedpyright black isort bandit pycodestyle pydocstyle pre-commit ty':
    '{.,}ruff.toml .flake8 {.,}pylintrc{,.toml} {.,}mypy.ini pyrightconfig.json .isort.cfg .bandit pyproject.toml setup.cfg tox.ini .pycodestyle .pydocstyle ty.toml',
  'pre-commit': '.pre-commit-config.yaml',
  'rspec rake ruby bundle rails minitest cucumber rubocop standardrb sorbet srb':
    '.rspec{,-local} {spec,rails,test}_helper.rb .rubocop*.{yml,yaml} .standard.yml cucumber.{yml,yaml} .simplecov Rakefile .minitest .bundle/config minitest/*_plugin.rb rakelib/*.rake',
  'phpunit pest composer php phpstan psalm php-cs-fixer phpcs paratest':
    'phpunit*.xml{,.dist} .phpunit* Pest.php phpstan*.{neon,neon.dist,php} psalm*.xml .php-cs-fixer*.php phpcs*.xml{,.dist} composer.json',
  'go golangci-lint staticcheck revive gotestsum ginkgo':
    'go.work .golangci* staticcheck.conf revive.toml GNUmakefile',
  'cargo rustc rustfmt clippy-driver just':
    '.cargo/config{,.toml} {.,}clippy.toml {.,}rustfmt.toml {,.config/}nextest.toml Cargo.toml {.,}tarpaulin.toml deny.toml',
  'mvn{,w} gradle{,w} java ant sbt bazel{,isk} junit':
    'services/org.junit* pom.xml {build,settings}.gradle{,.kts} gradle.properties {gradle,maven}-wrapper.{properties,jar} init.gradle {testng,checkstyle,spotbugs,pmd}*.xml junit-platform.properties detekt*.{yml,yaml} .mvn/* build.sbt .bazelrc BUILD{,.bazel} build.xml',
  'dotnet msbuild nunit3-console vstest.console nuke':
    '*.runsettings Directory.Build.{props,targets} *xunit.runner.json global.json *.{cs,fs,vb}proj',
  'cmake ctest make ninja meson':
    '{CTestConfig,CTestTestfile,CTestCustom}.cmake CMakePresets.json CMakeLists.txt meson.build',
  'mix elixir': 'mix.exs test_helper.exs .formatter.exs .credo.exs .dialyzer_ignore.exs',
  'swift xcodebuild swiftlint': '*.xctestplan .swiftlint.{yml,yaml} .swift-format',
  'bats shellcheck shfmt prove': 'setup_suite.bash .shellcheckrc .proverc test_helper.bash',
  'semgrep trivy gitleaks snyk codeql hadolint checkov trufflehog':
    '.semgrep* trivy.{yml,yaml} .trivyignore* {.,}gitleaks.toml .gitleaksignore .snyk .hadolint.{yml,yaml} .checkov.{yml,yaml}',
  'spectral yamllint vale ast-grep sg conftest actionlint':
    '.spectral.* .yamllint* .vale.ini sgconfig.{yml,yaml} conftest.toml actionlint.{yml,yaml}',
  'turbo nx lerna wireit lage moon': '{turbo,nx,project,lerna,workspace}.json lage.config.*',
}).map(([programs, files]) => [namesIn(programs), namesIn(files)]);

/** Whole names by their patterns, apart by blanks. */
function namesIn(patterns: string): RegExp {
  const form = patterns
    .replace(/[.]/g, '\\.')
    .replace(/\*/g, '[\\w.-]*')
    .replace(/\{([^{}]*)\}/g, (_, choices: string) => `(?:${choices.replaceAll(',', '|')})`)
    .replace(/ +/g, '|');
  return new RegExp(`^(?:${form})$`);
}

/** Programs found in the place of those that are installed. */
const installed = /(?:^|\/)node_modules\/\.bin\/([\w@.-]+)$/;

const anyFile = new RegExp(families.map(([, files]) => files.source).join('|'));

/** Read where the program runs, and nowhere else. */
const ofPlace =
  /^(?:\.env[\w.]*|\.npmrc|\.yarnrc(?:\.yml)?|\.pnp\.[cm]?js|\.pnpmfile\.cjs|pnpm-workspace\.yaml|bunfig\.toml|(?:jest|vitest?|ava|nyc|playwright|karma|cypress|stryker)[\w.-]*\.(?:config|conf|workspace|projects)\.[\w.]+|\.mocharc[\w.]*|mocha\.opts|\.taprc|\.nycrc[\w.]*|\.c8rc[\w.]*)$/;
const ofPackage =
  /^(?:package\.json|composer\.json|tsconfig[\w.-]*\.json|babel\.config\.[\w.]+|\.babelrc[\w.]*|\.swcrc|Cargo\.toml|pyproject\.toml|setup\.cfg|pytest\.(?:ini|toml)|tox\.ini|pom\.xml|[\w.-]+\.gradle(?:\.kts)?|gradle\.properties|[\w.-]+\.(?:cs|fs|vb)proj|CMakeLists\.txt|meson\.build|mix\.exs|project\.json|BUILD(?:\.bazel)?|build\.sbt|phpunit[\w.-]*\.xml(?:\.dist)?)$/;

/**
 * The program that a file configures, and the scope: everything below the file, its package, or programs that run in
 * its directory.
 */
export interface Configured {
  readonly program: string;
  readonly scope: 'below' | 'package' | 'place';
}

/** Whether a file at this path configures any program that is known. */
export function isConfigName(path: string): boolean {
  return lastNames(path).some((name) => anyFile.test(name));
}

/**
 * Returns the program that the file at this path configures, out of those that run. If `programs` is undefined, every
 * program counts.
 */
export function configuredProgram(
  path: string,
  programs: readonly string[] | undefined,
): Configured | undefined {
  const names = lastNames(path);
  const [name = ''] = names;
  const inPlace = installed.exec(path)?.[1];
  if (inPlace !== undefined)
    return programs === undefined || programs.includes(inPlace)
      ? { program: inPlace, scope: 'below' }
      : undefined;
  const scope =
    ofPlace.test(name) || names[1]?.startsWith('__mocks__/')
      ? 'place'
      : ofPackage.test(name)
        ? 'package'
        : 'below';
  for (const [form, files] of families) {
    if (!names.some((one) => files.test(one))) continue;
    if (programs === undefined) return { program: name, scope };
    const program = programs.find((one) => form.test(one));
    if (program !== undefined) return { program, scope };
  }
  return undefined;
}

function lastNames(path: string): readonly string[] {
  const last = path.lastIndexOf('/');
  const two = path.slice(path.lastIndexOf('/', last - 1) + 1);
  // Python compares these names without case.
  return [path.slice(last + 1), two.replace(/\.(?:dist|egg)-info\//i, (found) => found.toLowerCase())];
}

/** Files of a tree that configure a program that is known, whether or not it runs. */
export class ConfigInTree {
  readonly #paths: readonly string[];

  constructor(tree: VerifyingTree) {
    this.#paths = tree
      .under('')
      .filter((path) => isConfigName(path) && !path.includes('node_modules/') && !isFixture(path));
  }

  /** Those of programs that run, where they are read; of a package only in the directories in which programs run. */
  ofPrograms(
    programs: readonly string[],
    places: readonly string[],
  ): readonly { readonly path: string; readonly program: string }[] {
    const isPlace = placeTest(places);
    return this.#paths.flatMap((path) => {
      const how = configuredProgram(path, programs);
      const isRead =
        how?.scope === 'below' || /(?:^|\/)tsconfig[^/]*$/.test(path) || isPlace(directoryOf(path));
      return how !== undefined && isRead ? [{ path, program: how.program }] : [];
    });
  }
}

import { isFixture } from './rules.ts';
import { directoryOf, placeTest, type VerifyingTree } from './tree.ts';

/**
 * Configuration files of programs that checks run, as `[programs, file names]`. A file name has no directory, or only
 * its last one.
 */
const families: readonly (readonly [programs: RegExp, files: RegExp])[] = [
  [
    /^(?:jest|ts-jest|react-scripts|craco)$/,
    /^(?:jest[\w.-]*\.(?:config|setup|preset|transform)\.?[\w.]*|jest\.config\.[\w.]+|jest-[\w.-]+\.(?:[cm]?[jt]s|json)|setupTests\.[jt]sx?)$/,
  ],
  [
    /^(?:jest|ts-jest|babel-jest|babel-node|@babel\/register|@swc\/jest|@swc\/register|@swc-node|swc|react-scripts|craco)$/,
    /^(?:babel\.config\.[\w.]+|\.babelrc[\w.]*|\.swcrc)$/,
  ],
  [
    /^(?:vitest|vite)$/,
    /^(?:vitest?\.(?:config|workspace|setup|projects)\.[\w.]+|vitest[\w.-]*\.(?:[cm]?[jt]s|json)|vite[\w.-]*\.config\.[\w.]+)$/,
  ],
  [/^_?mocha$/, /^(?:\.mocharc[\w.]*|mocha\.opts)$/],
  [/^ava$/, /^ava\.config\.[\w.]+$/],
  [/^tap$/, /^\.taprc$/],
  [/^(?:jasmine|ng)$/, /^(?:jasmine[\w.]*\.(?:json|[cm]?[jt]s)|angular\.json)$/],
  [/^(?:karma|ng)$/, /^karma[\w.-]*\.conf(?:ig)?\.[\w.]+$/],
  [/^playwright$/, /^playwright[\w.-]*\.config\.[\w.]+$/],
  [
    /^cypress$/,
    /^(?:cypress\.config\.[\w.]+|cypress\.json|support\/(?:e2e|index|component|commands)\.[cm]?[jt]sx?)$/,
  ],
  [/^(?:nyc|c8|istanbul)$/, /^(?:\.nycrc[\w.]*|\.c8rc[\w.]*|nyc\.config\.[\w.]+|\.istanbul\.ya?ml)$/],
  [/^(?:stryker)$/, /^stryker[\w.-]*\.[\w.]+$/],
  [
    /^(?:tsc|tsx|ts-node|ts-jest|vitest|vue-tsc|tsup|mocha|jest|esbuild|swc|tsd|attw|bun|deno|esbuild-register|esbuild-runner|@swc-node|tsconfig-paths|vite-tsconfig-paths|@esbuild-kit)$/,
    /^tsconfig[\w.-]*\.json$/,
  ],
  [
    /^(?:eslint|xo|standard|next|ng)$/,
    /^(?:\.eslintrc[\w.]*|eslint\.config\.[\w.]+|\.eslintignore|\.xo-config[\w.]*)$/,
  ],
  [/^(?:biome|rome)$/, /^(?:biome|rome)\.jsonc?$/],
  [/^(?:prettier|eslint)$/, /^(?:\.prettierrc[\w.]*|prettier\.config\.[\w.]+|\.prettierignore)$/],
  // ESLint does not read it.
  [/^(?:prettier|shfmt|ktlint|dotnet)$/, /^\.editorconfig$/],
  // Mocks of packages, which Jest uses without an explicit request.
  [/^(?:jest|react-scripts|craco)$/, /^__mocks__\/[\w.-]+$/],
  [
    /^(?:oxlint|dprint|stylelint|knip|madge|depcruise|dependency-cruiser|markdownlint[\w-]*|cspell|commitlint|lint-staged|publint|size-limit)$/,
    /^(?:\.oxlintrc\.json|oxlintrc\.json|\.?dprint\.jsonc?|\.stylelintrc[\w.]*|stylelint\.config\.[\w.]+|\.stylelintignore|knip\.[\w.]+|\.madgerc|\.dependency-cruiser[\w.]*|\.markdownlint[\w.-]*|\.cspell[\w.]*|cspell\.[\w.]+|\.commitlintrc[\w.]*|commitlint\.config\.[\w.]+|\.lintstagedrc[\w.]*|\.size-limit[\w.]*)$/,
  ],
  [
    /^(?:npm|npx|pnpm|pnpx|yarn|bun|bunx|corepack)$/,
    /^(?:\.npmrc|\.yarnrc(?:\.yml)?|\.pnp\.[cm]?js|\.pnpmfile\.cjs|pnpm-workspace\.yaml|bunfig\.toml)$/,
  ],
  [
    /^(?:node|npm|npx|pnpm|yarn|bun|jest|vitest|_?mocha|ava|tap|nyc|c8|eslint|prettier|xo|standard|tsx|ts-node)$/,
    /^package\.json$/,
  ],
  [/^deno$/, /^deno\.jsonc?$/],
  [
    /^(?:node|dotenv|docker-compose|bun|python[\d.]*|pytest|rails|rspec|php|vitest|vite|jest)$/,
    /^\.env(?:\.(?:test|ci|local|testing|test\.local))?$/,
  ],
  [
    /^(?:pytest|py\.test|python[\d.]*|tox|nox|coverage|poe|taskipy|hatch|pdm|rye|cibuildwheel|mutmut)$/,
    /^(?:pytest\.(?:ini|toml)|\.pytest\.(?:ini|toml)|conftest\.py|\.coveragerc|tox\.ini|noxfile\.py|setup\.cfg|pyproject\.toml|(?:site|user)customize\.py|(?:site|user)customize\/__init__\.py)$/,
  ],
  [
    /^(?:ruff|flake8|pylint|mypy|pyright|basedpyright|black|isort|bandit|pycodestyle|pydocstyle|pre-commit|ty)$/,
    /^(?:\.?ruff\.toml|\.flake8|\.?pylintrc(?:\.toml)?|\.?mypy\.ini|pyrightconfig\.json|\.isort\.cfg|\.bandit|pyproject\.toml|setup\.cfg|tox\.ini|\.pycodestyle|\.pydocstyle|ty\.toml)$/,
  ],
  [/^pre-commit$/, /^\.pre-commit-config\.yaml$/],
  [
    /^(?:rspec|rake|ruby|bundle|rails|minitest|cucumber|rubocop|standardrb|sorbet|srb)$/,
    /^(?:\.rspec(?:-local)?|spec_helper\.rb|rails_helper\.rb|test_helper\.rb|\.rubocop[\w.-]*\.ya?ml|\.standard\.yml|cucumber\.ya?ml|\.simplecov|Rakefile|\.minitest|\.bundle\/config)$/,
  ],
  [
    /^(?:phpunit|pest|composer|php|phpstan|psalm|php-cs-fixer|phpcs|paratest)$/,
    /^(?:phpunit[\w.-]*\.xml(?:\.dist)?|\.phpunit[\w.-]*|Pest\.php|phpstan[\w.-]*\.(?:neon|neon\.dist|php)|psalm[\w.-]*\.xml|\.php-cs-fixer[\w.-]*\.php|phpcs[\w.-]*\.xml(?:\.dist)?|composer\.json)$/,
  ],
  [
    /^(?:go|golangci-lint|staticcheck|revive|gotestsum|ginkgo)$/,
    /^(?:go\.work|\.golangci[\w.-]*|staticcheck\.conf|revive\.toml|GNUmakefile)$/,
  ],
  [
    /^(?:cargo|rustc|rustfmt|clippy-driver|just)$/,
    /^(?:\.cargo\/config(?:\.toml)?|\.?clippy\.toml|\.?rustfmt\.toml|nextest\.toml|\.config\/nextest\.toml|Cargo\.toml|tarpaulin\.toml|\.tarpaulin\.toml|deny\.toml)$/,
  ],
  [
    /^(?:mvnw?|gradlew?|java|ant|sbt|bazel(?:isk)?|junit)$/,
    /^(?:pom\.xml|build\.gradle(?:\.kts)?|settings\.gradle(?:\.kts)?|gradle\.properties|gradle-wrapper\.(?:properties|jar)|maven-wrapper\.(?:properties|jar)|init\.gradle|testng[\w.-]*\.xml|junit-platform\.properties|checkstyle[\w.-]*\.xml|spotbugs[\w.-]*\.xml|pmd[\w.-]*\.xml|detekt[\w.-]*\.ya?ml|\.mvn\/[\w.]+|build\.sbt|\.bazelrc|BUILD(?:\.bazel)?|build\.xml)$/,
  ],
  [
    /^(?:dotnet|msbuild|nunit3-console|vstest\.console|nuke)$/,
    /^(?:[\w.-]+\.runsettings|Directory\.Build\.(?:props|targets)|xunit\.runner\.json|[\w.-]*xunit\.runner\.json|global\.json|\.runsettings|[\w.-]+\.(?:cs|fs|vb)proj)$/,
  ],
  [
    /^(?:cmake|ctest|make|ninja|meson)$/,
    /^(?:CTestConfig\.cmake|CTestTestfile\.cmake|CTestCustom\.cmake|CMakePresets\.json|CMakeLists\.txt|meson\.build)$/,
  ],
  [
    /^(?:mix|elixir)$/,
    /^(?:mix\.exs|test_helper\.exs|\.formatter\.exs|\.credo\.exs|\.dialyzer_ignore\.exs)$/,
  ],
  [/^(?:swift|xcodebuild|swiftlint)$/, /^(?:[\w.-]+\.xctestplan|\.swiftlint\.ya?ml|\.swift-format)$/],
  [/^(?:bats|shellcheck|shfmt|prove)$/, /^(?:setup_suite\.bash|\.shellcheckrc|\.proverc|test_helper\.bash)$/],
  [
    /^(?:semgrep|trivy|gitleaks|snyk|codeql|hadolint|checkov|trufflehog)$/,
    /^(?:\.semgrep[\w.]*|\.semgrepignore|trivy\.ya?ml|\.trivyignore[\w.]*|\.?gitleaks\.toml|\.gitleaksignore|\.snyk|\.hadolint\.ya?ml|\.checkov\.ya?ml)$/,
  ],
  [
    /^(?:spectral|yamllint|vale|ast-grep|sg|conftest|actionlint)$/,
    /^(?:\.spectral\.[\w.]+|\.yamllint[\w.]*|\.vale\.ini|sgconfig\.ya?ml|conftest\.toml|actionlint\.ya?ml)$/,
  ],
  [
    /^(?:turbo|nx|lerna|wireit|lage|moon)$/,
    /^(?:turbo\.json|nx\.json|project\.json|lerna\.json|lage\.config\.[\w.]+|workspace\.json)$/,
  ],
];

/** Programs found in the place of those that are installed. */
const installed = /(?:^|\/)node_modules\/\.bin\/([\w@.-]+)$/;

const anyFile = new RegExp(families.map(([, files]) => files.source).join('|'));

/** Read where the program runs, and nowhere else. */
const ofPlace =
  /^(?:\.env[\w.]*|\.npmrc|\.yarnrc(?:\.yml)?|\.pnp\.[cm]?js|\.pnpmfile\.cjs|pnpm-workspace\.yaml|bunfig\.toml|(?:jest|vitest?|ava|nyc|playwright|karma|cypress|stryker)[\w.-]*\.(?:config|conf|workspace|projects)\.[\w.]+|\.mocharc[\w.]*|mocha\.opts|\.taprc|\.nycrc[\w.]*|\.c8rc[\w.]*)$/;
/** Files that configure their own package. */
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
  return [path.slice(last + 1), path.slice(path.lastIndexOf('/', last - 1) + 1)];
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

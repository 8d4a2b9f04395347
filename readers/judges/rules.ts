/* Decides by its path whether a file serves verification, tests or the product. */
import { isCode } from '../source/language.ts';
import { joined, type Named, type VerifyingTree } from './tree.ts';

/** Directories of development tooling. Any other file that a script imports is the product under check. */
const tooling =
  /(?:^|\/)(?:scripts?|ci|tools?|tooling|build-?tools|hack|devtools|checks?|qa|lint|\.[\w-]+)\/|(?:^|\/)(?:global-?)?(?:set-?up|bootstrap)(?:[.-][\w.-]*)?$/i;

/** Files with test cases: the rule `tests-kept` evaluates their changes. */
const isTest =
  /[._-](?:test|spec|tests)\.[cm]?[jt]sx?$|(?:^|\/)test_[^/]*\.py$|_test\.(?:py|go|rb)$|_spec\.rb$|\.bats$/;

/**
 * Versions, dependencies and descriptions of the product: they have their own rules, or are the subject of the check.
 */
const ofProduct =
  /(?:^|\/)(?:(?:package|package-lock|npm-shrinkwrap|composer|deno|jsr|tsconfig\.tsbuildinfo)\.json|[\w.-]*lock(?:\.json|\.ya?ml|b)?|pyproject\.toml|cargo\.toml|go\.(?:mod|sum|work)|setup\.(?:py|cfg)|requirements[\w.-]*\.txt|(?:openapi|swagger|asyncapi)[\w.-]*|(?:readme|changelog|changes|history|license|license|copying|notice|version|authors|codeowners|contributing)(?:\.\w+)?|\.git(?:ignore|attributes))$|\.(?:md|mdx|rst|adoc|html?|css|svg)$/i;
const productPlaces =
  /(?:^|\/)(?:src|sources?|libs?|apps?|packages|pkg|internal|cmd|include|public|static|assets|dist|out|docs?|documentation|examples?|samples?|demos?|website|site|www|locales?|i18n|lang|translations|content|data|db|migrations|schemas?|proto|templates?|views|pages|components|models|routes|crates|modules|node_modules|vendor|third_party)\//i;
const testPlaces = /(?:^|\/)(?:tests?|__tests__|specs?|testing|test-?utils|e2e|integration)\//i;
const fixturePlaces =
  /(?:^|\/)(?:fixtures?|__fixtures__|test-?data|(?:__)?snapshots?(?:__)?|__mocks__|goldens?)\//i;

const data =
  /\.(?:json[c5]?|ya?ml|toml|ini|cfg|conf|config|properties|xml|txt|lst|list|csv|tsv|rego|rules?|neon|env|baseline|allow|deny|ignore|mk)$|\/[\w-]+$|(?:^|\/)\.[\w-]+$/;
/** Code beside that of the languages that are known, or what is called as a program is. */
const otherCode = /\.(?:vue|cmake|json[c5]?)$|\/[\w-]+$/;
const entry = /^(?:index|main|app|server|cli|mod|lib)\.\w+$/;

/** Directories named for rules, policies, checks or limits. */
const judgingDirectory =
  /(?:^|\/)(?:[\w-]*rules?|polic(?:y|ies)|checks?|baselines?|gates?|limits|budgets?|lint(?:ers?)?)(?:\.d)?$/i;

/** Whether a file that a script refers to is a verification input, and not the product or a test under check. */
export function servesVerification(from: string, path: string): boolean {
  if (isTest.test(path) || ofProduct.test(path)) return false;
  if (tooling.test(path) || (!from.includes('/') && !path.includes('/'))) return true;
  return data.test(path) && !isOfProductOrTests(path);
}

/**
 * Whether a file that a configuration names defines or implements how a check runs. Such a file may be in a test
 * directory.
 */
export function servesConfiguration(from: string, path: string): boolean {
  if (isTest.test(path) || ofProduct.test(path) || path.endsWith('.d.ts')) return false;
  if (servesVerification(from, path)) return path.includes('/') || !entry.test(path);
  if (!isCode(path) && !otherCode.test(path) && !data.test(path)) return false;
  if (fixturePlaces.test(path)) return false;
  return testPlaces.test(path) || !productPlaces.test(path);
}

/** Whether a directory that a script names contains rules; every file in it is then a verification input. */
export function isDirectoryOfRules(path: string): boolean {
  return judgingDirectory.test(path) && !isOfProductOrTests(`${path}/`);
}

/**
 * Whether a directory that is given to an option as one of rules can be that: the product's own directories are none.
 */
function mayHoldRules(path: string): boolean {
  return path !== '' && !isOfProductOrTests(`${path}/`);
}

/** Whether a file describes the product: a manifest, a lockfile, a page. */
export function describesProduct(path: string): boolean {
  return ofProduct.test(path);
}

export function isTooling(path: string): boolean {
  return tooling.test(path) && !isTest.test(path);
}

/** Whether a path is below what tests are given to read. */
export function isFixture(path: string): boolean {
  return fixturePlaces.test(path.replaceAll('__mocks__/', ''));
}

export function isAmongTests(path: string): boolean {
  return testPlaces.test(path);
}

function isOfProductOrTests(path: string): boolean {
  return productPlaces.test(path) || testPlaces.test(path) || fixturePlaces.test(path);
}

const option =
  /^--?(?:rules?-?dirs?|rulesdir|rules?|rulesets?|config|polic(?:y|ies)|policy-dir|external-checks-dir|plugins?-?dirs?)$/;
const special: readonly (readonly [program: RegExp, option: RegExp])[] = [
  [/^semgrep$/, /^-[cf]$/],
  [/^conftest$/, /^(?:-p|-d|--data)$/],
  [/^(?:opa|regal)$/, /^(?:-d|-b|--data|--bundle)$/],
  [/^(?:checkov|tfsec|kics|yara)$/, /^-[cdpr]$/],
];

/** Rule directories that a command names. Every file in them is a verification input, including new files. */
export function ruleDirectories(
  program: string,
  words: readonly string[],
  directory: string,
  tree: VerifyingTree,
): readonly Named[] {
  const short = special.find(([name]) => name.test(program))?.[1];
  const given = words.flatMap((word, at) => {
    const [, name = word, glued] = /^(--?[\w-]+)=(.+)$/s.exec(word) ?? [];
    return option.test(name) || short?.test(name) ? [glued ?? words[at + 1] ?? ''] : [];
  });
  if (/^(?:opa|regal)$/.test(program)) given.push(...words.slice(1).filter((word) => !word.startsWith('-')));
  // The default directory, if the command names none.
  if (program === 'conftest' && given.length === 0) given.push('policy');
  // Build code that Gradle executes before anything else.
  if (/^gradlew?$/.test(program)) given.push('buildSrc');
  return given.flatMap((word): readonly Named[] => {
    const path = joined(directory, word);
    return path !== undefined && mayHoldRules(path) && tree.isDirectory(path)
      ? [{ kind: 'rules', path }]
      : [];
  });
}

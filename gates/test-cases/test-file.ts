import type { Language } from '../../readers/source/language.ts';

const directories = /(?:^|\/)(?:__tests__|tests?|specs?|e2e|t)\//i;

/** Where each language keeps its tests, over whole paths. */
const patterns: Readonly<Record<Language, RegExp>> = {
  javascript: /[._-](?:test|spec|tests)\.[cm]?[jt]sx?$|(?:^|\/)test\.[cm]?[jt]s$/i,
  python: /(?:^|\/)test_[^/]*\.py$|_tests?\.py$|(?:^|\/)tests\.py$/,
  shell: /\.bats$|(?:^|\/)test[_-][^/]*\.sh$|[_-]test\.sh$/,
  ruby: /_(?:spec|test)\.rb$/,
  php: /Test\.php$|\.phpt$/,
  perl: /\.t$/,
  java: /(?:Tests?|IT|Spec)\.(?:java|groovy)$/,
  kotlin: /(?:Tests?|IT|Spec)\.kts?$/,
  scala: /(?:Tests?|IT|Spec|Suite)\.scala$/,
  go: /_test\.go$/,
  csharp: /Tests?\.cs$/,
  // Rust keeps unit tests beside the code.
  rust: /\.rs$/,
  c: /(?:^|[/_.-])tests?[^/]*\.(?:c|cc|cpp|cxx)$/i,
  swift: /Tests?\.swift$/,
  elixir: /_test\.exs$/,
};

/** True for files in which a test case of that language may stand. */
export function isTestFile(path: string, language: Language): boolean {
  if (patterns[language].test(path)) return true;
  // Go and Elixir run nothing that is not named so.
  return language !== 'go' && language !== 'elixir' && directories.test(path);
}

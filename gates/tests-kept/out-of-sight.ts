import type { Language } from '../../readers/source/language.ts';

/** Names by which runners find files, where the directory alone does not do it. */
const found: Readonly<Partial<Record<Language, RegExp>>> = {
  python: /(?:^|\/)(?:test_[^/]*|[^/]*_tests?|tests?)\.py$/,
  ruby: /_(?:spec|test)\.rb$|(?:^|\/)test_[^/]*\.rb$/,
  php: /Test\.php$|\.phpt$/,
};
const otherSystems =
  /_(?:windows|darwin|freebsd|openbsd|netbsd|dragonfly|solaris|illumos|aix|plan9|android|ios|js|wasip1|386|arm|arm64|mips\w*|ppc64\w*|riscv64|s390x|loong64|wasm)_test\.go$/;
const ignoredByGo = /(?:^|\/)(?:[_.][^/]*|testdata(?:\/.*)?|vendor\/.*)$|(?:^|\/)(?:[_.][^/]+|testdata)\//;

/**
 * Whether a file that runners found by its old path is not found by its new one, or not built where checks are
 * executed.
 */
export function isOutOfSight(oldPath: string, path: string, language: Language): boolean {
  if (oldPath === path) return false;
  if (language === 'go')
    return [otherSystems, ignoredByGo].some((form) => form.test(path) && !form.test(oldPath));
  const form = found[language];
  return form?.test(oldPath) === true && !form.test(path);
}

import type { ToldLoss } from './tell-losses.ts';
import { type MayGo, severityOf, type TestChange } from './test-change.ts';

/** Calls and declarations by which a test, or a file of them, is made known; the name behind. */
const forms = {
  c: /\b(?:RUN_TEST|UnityDefaultTestRun|cmocka_unit_test\w{0,40}|unit_test\w{0,40}|tcase_add_\w{0,20}test|CU_add_test|CU_ADD_TEST|g_test_add_func)\s*\(\s*(?:[^(),\n]{0,80},\s*){0,2}&?(\w{1,80})\s*[,)]/g,
  rust: /^[ \t]*(?:pub\s+)?mod\s+(\w{0,40}tests?(?:_\w{1,40})?)\s*;/gm,
} as const;

/** Tests that a file made known at the base and no changed file does now. */
export function lostRegistrations(changes: readonly TestChange[], mayGo: MayGo): readonly ToldLoss[] {
  const sides = changes.flatMap(({ candidate }) => candidate ?? []);
  return changes.flatMap(({ base }): ToldLoss[] => {
    const language = base?.source.language;
    if (!base || (language !== 'c' && language !== 'rust')) return [];
    const names = new Set([...base.code.matchAll(forms[language])].map(([, name = '']) => name));
    if (names.size === 0) return [];
    const now = new Set(
      sides.flatMap(({ code }) => [...code.matchAll(forms[language])].map(([, name = '']) => name)),
    );
    const isInline = (name: string): boolean =>
      language === 'rust' && sides.some(({ code }) => new RegExp(`\\bmod\\s+${name}\\s*\\{`).test(code));
    return [...names]
      .filter((name) => !now.has(name) && !isInline(name))
      .map((name) => ({
        code: 'TEST_GONE',
        severity: severityOf(mayGo, base.path, name),
        path: base.path,
        name,
      }));
  });
}

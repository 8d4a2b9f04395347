import type { Language } from '../../readers/source/language.ts';
import type { HelperFunction } from '../test-cases/helper-functions.ts';
import { isOfHelpers } from '../test-cases/helper-functions.ts';
import { bindingsOf, resolveFrom, testLibrary } from '../test-cases/library-bindings.ts';

/** Names of functions that judge: they assert, or call one that does. `calls` gives what a function calls. */
export function judgingNames(
  helpers: readonly HelperFunction[],
  calls: (helper: HelperFunction) => ReadonlySet<string>,
): ReadonlySet<string> {
  const judging = new Set(helpers.filter(({ assertions }) => assertions > 0).map(({ name }) => name));
  const others = helpers.filter(({ name }) => !judging.has(name)).slice(0, 500);
  for (let round = 0, before = -1; round < 5 && before !== judging.size; round += 1) {
    before = judging.size;
    for (const helper of others)
      if ([...calls(helper)].some((name) => judging.has(name))) judging.add(helper.name);
  }
  return judging;
}

/** Names that a test file takes from files that are no product and not seen: they may judge. */
export function namesFromHelpers(
  path: string,
  text: string,
  code: string,
  language: Language,
): ReadonlySet<string> {
  if (language === 'javascript')
    return new Set(
      bindingsOf(text, code)
        .filter(
          ({ module }) =>
            !testLibrary.test(module) &&
            isOfTests(module.startsWith('.') ? resolveFrom(path, module) : module),
        )
        .map(({ name }) => name),
    );
  if (language === 'python')
    return new Set(
      [...code.matchAll(/^\s*from\s+([\w.]{1,200})\s+import\s+(?:\(([^()]{0,1000})\)|([^\n]{1,500}))/gm)]
        .filter(([, module = '']) => module.startsWith('.') || isOfTests(module.replaceAll('.', '/')))
        .flatMap((match) =>
          (match[2] ?? match[3] ?? '').split(',').map((one) => /(\w+)\s*$/.exec(one)?.[1] ?? ''),
        ),
    );
  // A function of the same package that is handed `t`.
  if (language === 'go')
    return new Set([...code.matchAll(/(?<![\w.])([a-z]\w{0,79})\(t,/g)].map(([, name = '']) => name));
  return new Set();
}

function isOfTests(path: string): boolean {
  return (
    /(?:^|\/)(?:__tests__|tests?|specs?|conftest|e2e)(?:\/|$)/i.test(path) || isOfHelpers.test(`${path}.x`)
  );
}

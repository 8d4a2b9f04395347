/** `function a(`, `const a = (`, `def a`, `func a(`, `fn a(`, `void a(`, `a() {`. */
const declared =
  /\b(?:function|def|defp|func|fun|fn|sub|void)\s+(?:self\.)?(\w{1,80})|\b(?:const|let|var)\s+(\w{1,80})\s*=\s*(?:async\b\s*)?(?:function\b|\(|\w{1,40}\s*=>)|^[ \t]*(\w{1,80})\s*\(\)[ \t]*\{/gm;
const maxReach = 3_000;

/**
 * Names of functions in code of which one of the next assertions is likely a part: up to the next function, 3,000 characters at most.
 * `cases` are the names of test cases, which nobody calls.
 */
export function helpersThatAssert(
  code: string,
  asserted: readonly number[],
  cases: ReadonlySet<string>,
): ReadonlySet<string> {
  const found = [...code.matchAll(declared)];
  const helpers = new Set<string>();
  let next = 0;
  for (const [index, match] of found.entries()) {
    const from = match.index + match[0].length;
    const to = Math.min(from + maxReach, found[index + 1]?.index ?? code.length);
    while ((asserted[next] ?? code.length) < from) next += 1;
    const name = match[1] ?? match[2] ?? match[3];
    if (name !== undefined && !cases.has(name) && (asserted[next] ?? code.length) < to) helpers.add(name);
  }
  return helpers;
}

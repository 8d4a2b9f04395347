/** What differs from run to run: ids and digests, key fingerprints, times, sizes, ports, the columns of a table. */
const volatile: readonly (readonly [RegExp, string])[] = [
  [/\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b/g, 'RUN'],
  [/SHA256:[\w+/]{43}/g, 'KEY'],
  [/\b[0-9a-f]{7,64}\b/g, 'ID'],
  [/\b\d{4}-\d\d-\d\d(?:T[\d:.]+Z?)?/g, 'DATE'],
  [/\b\d+(?:\.\d+)? (?:ms|s|min|B|KiB|MiB)\b/g, 'AMOUNT'],
  [/\b(127\.0\.0\.1|localhost):\d+/g, '$1:PORT'],
  [/\s+/g, ' '],
];

/** The text with all that differs from run to run replaced by words. */
export function withoutVolatile(text: string): string {
  return volatile.reduce((result, [from, to]) => result.replaceAll(from, to), text).trim();
}

/**
 * The first line of a page that the output does not have in its place; `undefined` if the output is as shown. `…` in a
 * line stands for anything, a line `…` for any number of lines.
 */
export function firstDifference(shown: string, output: string): string | undefined {
  const found = linesOf(output);
  let at = 0;
  let mayskip = false;
  for (const line of linesOf(shown)) {
    if (line === '…') {
      mayskip = true;
      continue;
    }
    const like = formOf(line);
    const next = mayskip ? found.findIndex((one, index) => index >= at && like.test(one)) : at;
    if (next < 0 || !like.test(found[next] ?? '')) return `shown: ${line}\nfound: ${found[at] ?? 'nothing'}`;
    at = next + 1;
    mayskip = false;
  }
  return mayskip || at === found.length ? undefined : `not shown: ${found[at]}`;
}

function linesOf(text: string): readonly string[] {
  return text
    .split('\n')
    .map(withoutVolatile)
    .filter((line) => line !== '');
}

function formOf(line: string): RegExp {
  return new RegExp(`^${line.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&').replaceAll('…', '.*')}$`);
}

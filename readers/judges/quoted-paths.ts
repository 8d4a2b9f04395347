const maxQuoted = 10_000;

/**
 * Texts in quotes that may be paths, also such as are put together from parts: `join('ci', 'rules.json')`, `Path('ci')
 * / 'rules.json'`.
 */
export function quotedPaths(written: string): readonly string[] {
  const found = new Set<string>();
  // `${root}/ci/rules.json` and f"{root}/ci/rules.json" begin where the text is known.
  const text = written.replace(/\$?\{[^{}\n]{1,200}\}\//g, '');
  for (const [, word = ''] of text.matchAll(/["'`]((?:file:\/\/)?[\w@.~/-]{2,300})["'`]/g)) {
    if (found.size >= maxQuoted) break;
    found.add(word.replace(/^file:\/\//, ''));
    // Behind a directory: `root + '/ci/rules.json'`.
    if (word.startsWith('/')) found.add(word.replace(/^\/+/, ''));
  }
  // What is spawned: "bash ci/check.sh --all".
  for (const [, words = ''] of text.matchAll(/["'`]([^"'`\n]{3,300}[ \t][^"'`\n]{1,300})["'`]/g)) {
    if (found.size >= maxQuoted) break;
    for (const word of words.split(/[\s=;|&<>(),]+/))
      if (/^[\w@./-]+\/[\w@./-]+$/.test(word)) found.add(word);
  }
  for (const [parts] of text.matchAll(
    /(?:["'][\w@./-]{1,100}["'][ \t\n]{0,20}\)?[ \t\n]{0,20}[,/][ \t\n]{0,20}){1,6}["'][\w@./-]{1,100}["']/g,
  )) {
    if (found.size >= maxQuoted) break;
    let path = '';
    for (const [, part = ''] of parts.matchAll(/["']([^"']*)["']/g)) {
      path = path === '' ? part : `${path}/${part}`;
      found.add(path);
    }
  }
  return [...found];
}

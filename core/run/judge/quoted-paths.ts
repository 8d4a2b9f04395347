const maxQuoted = 10_000;

/** Texts in quotes that may be paths, also such as are put together from parts: `join('ci', 'rules.json')`, `Path('ci') / 'rules.json'`. */
export function quotedPaths(text: string): readonly string[] {
  const found = new Set<string>();
  for (const [, word = ''] of text.matchAll(/["'`]((?:file:\/\/)?[\w@.~/-]{2,300})["'`]/g)) {
    if (found.size >= maxQuoted) break;
    found.add(word.replace(/^file:\/\//, ''));
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

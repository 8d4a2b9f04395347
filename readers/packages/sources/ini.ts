/** One `key = value` of an ini file, with continuation lines joined by spaces. */
export interface IniEntry {
  readonly section: string;
  readonly key: string;
  readonly value: string;
  readonly line: number;
}

/**
 * Entries of an ini file, in order. `python`: as configparser reads (`:` too, indented lines continue, quotes are
 * characters). `npm`: as npm does (quotes are taken off, a key alone is `true`, `[]` makes lists). Carriage returns
 * alone end lines, as they do for both.
 */
export function iniEntries(text: string, dialect: 'python' | 'npm'): readonly IniEntry[] {
  const entries: { section: string; key: string; value: string; line: number }[] = [];
  let section = '';
  let number = 0;
  for (const raw of text.split(/\r\n|\r|\n/)) {
    number += 1;
    const line = raw.trim();
    if (line === '' || line.startsWith('#') || line.startsWith(';')) continue;
    const last = entries.at(-1);
    if (dialect === 'python' && /^\s/.test(raw) && last) {
      // More than this is no list of places.
      if (last.value.length < 65_536) last.value = `${last.value}\n${line}`;
      continue;
    }
    const head = /^\[([^\]]*)\]/.exec(line)?.[1];
    if (head !== undefined) {
      section = head.trim().toLowerCase();
      continue;
    }
    const at = line.search(dialect === 'python' ? /[=:]/ : /=/);
    const [key, value] = at === -1 ? [line, 'true'] : [line.slice(0, at), line.slice(at + 1)];
    if (dialect === 'python') entries.push({ section, key: fold(key), value: value.trim(), line: number });
    else
      entries.push({
        section,
        key: fold(unquoted(key).replace(/\[\]$/, '')),
        value: unquoted(value),
        line: number,
      });
  }
  return entries;
}

/** Keys are compared as pip and npm's own variables are: without case, with dashes. */
function fold(key: string): string {
  return key.trim().toLowerCase().replace(/^--/, '').replace(/_/g, '-');
}

function unquoted(text: string): string {
  const bare = text.trim();
  const quote = bare[0];
  if (bare.length > 1 && (quote === '"' || quote === "'") && bare.endsWith(quote))
    return bare.slice(1, -1).trim();
  return bare.replace(/(?<!\\)[;#].*$/, '').trim();
}

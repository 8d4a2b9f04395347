import { fromHex } from '../integrity.ts';
import { LockBuilder, type LockEntry } from '../lock-builder.ts';
import { cleanUrl, hostOf } from '../origin.ts';
import type { ReadingBuilder } from '../reading.ts';

const sections = new Set([
  'GIT',
  'PATH',
  'GEM',
  'PLUGIN SOURCE',
  'PLATFORMS',
  'DEPENDENCIES',
  'CHECKSUMS',
  'RUBY VERSION',
  'BUNDLED WITH',
]);

/** Gemfile.lock and gems.locked. */
export function readGemfileLock(text: string, reading: ReadingBuilder): void {
  if (/^(?:<{7}|>{7}|={7})(?: |$)/m.test(text)) {
    reading.problem('it holds merge conflicts');
    return;
  }
  if (!/^(?:GEM|GIT|PATH)$/m.test(text)) {
    reading.problem('it has no section of gems');
    return;
  }
  reading.knowsDirect = true;
  const mirror = new Map<string, string>();
  const rows: { key: string; entry: LockEntry; asks: string[] }[] = [];
  const checksums = new Map<string, string>();
  let section = '';
  let remote = '';
  let revision = '';
  let number = 0;
  for (const raw of text.split('\n')) {
    number += 1;
    const line = raw.trimEnd();
    if (line === '') continue;
    if (!line.startsWith(' ')) {
      if (!sections.has(line)) reading.problem(`line ${number} begins a section that is not known`);
      section = line;
      remote = '';
      revision = '';
      continue;
    }
    const field = /^ {2}(\w+):(?: (.*))?$/.exec(line);
    if (field && section !== 'DEPENDENCIES') {
      if (field[1] === 'remote') remote = field[2] ?? '';
      if (field[1] === 'revision') revision = field[2] ?? '';
      continue;
    }
    const spec = /^( +)([^\s(!]+)(?: \(([^()]*)\))?(!)?(?: (.*))?$/.exec(line);
    if (!spec) {
      if (section === 'GEM' || section === 'GIT' || section === 'PATH' || section === 'DEPENDENCIES')
        reading.problem(`line ${number} cannot be understood`);
      continue;
    }
    const [, indent = '', name = '', detail = '', , rest = ''] = spec;
    if (section === 'DEPENDENCIES') mirror.set(name, detail);
    else if (section === 'CHECKSUMS') checksums.set(`${name} ${detail}`, rest.split(',')[0] ?? '');
    else if (['GEM', 'GIT', 'PATH', 'PLUGIN SOURCE'].includes(section)) {
      if (indent.length === 6) rows.at(-1)?.asks.push(name);
      else {
        const dash = detail.indexOf('-');
        const source = section === 'GEM' ? 'registry' : section === 'PATH' ? 'path' : 'git';
        if (source === 'path' && (remote === '.' || remote === '')) reading.local.add(name);
        else
          rows.push({
            key: `${name} ${detail}`,
            asks: [],
            entry: {
              name,
              version: dash === -1 ? detail : detail.slice(0, dash),
              qualifiers: { platform: dash === -1 ? undefined : detail.slice(dash + 1) },
              source,
              origin:
                source === 'registry'
                  ? hostOf(remote)
                  : source === 'path'
                    ? reading.placeOf(remote)
                    : cleanUrl(remote),
              revision: source === 'git' ? revision : undefined,
              line: number,
              asks: [],
            },
          });
      }
    }
  }
  const builder = new LockBuilder(reading);
  const byName = new Map<string, string>();
  for (const { key, entry, asks } of rows) {
    byName.set(entry.name, byName.get(entry.name) ?? key);
    const integrity = fromHex(checksums.get(key) ?? '');
    builder.add(key, { ...entry, asks, integrity, direct: mirror.has(entry.name) });
  }
  reading.mirrored = new Map([['', mirror]]);
  builder.finish((asked) => byName.get(asked));
}

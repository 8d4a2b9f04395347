/* A large diff in git's form, made of the text files of `node_modules`: the same bytes for the same dependencies. Kept in a temporary directory only. */
import { once } from 'node:events';
import { createWriteStream, readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';

const kinds = /\.(?:[cm]?[jt]sx?|md|json|py|cs|java|go|rb|php|pl|sh|html|css|ya?ml|txt|toml)$/i;
const maxFileBytes = 1_000_000;

/** What a made diff holds. */
export interface SampleDiff {
  readonly bytes: number;
  readonly files: number;
  readonly lines: number;
  readonly addedLines: number;
}

/** Text files below a directory, in order of their names. */
export function textFiles(root: string): readonly string[] {
  const found: string[] = [];
  const enter = (directory: string): void => {
    const entries = readdirSync(directory, { withFileTypes: true }).sort((a, b) =>
      a.name < b.name ? -1 : 1,
    );
    for (const entry of entries) {
      const path = join(directory, entry.name);
      if (entry.isDirectory()) enter(path);
      else if (entry.isFile() && kinds.test(entry.name) && statSync(path).size < maxFileBytes)
        found.push(path);
    }
  };
  enter(root);
  return found;
}

/**
 * Writes at least `bytes` of diff to `paths`, file sections shared out evenly. Of three files one is new; the others
 * are changed in hunks: of their lines about half is added, some are removed, the rest is context. `sections` bounds
 * what is read of the tree.
 */
export async function writeSampleDiff(
  sources: readonly string[],
  bytes: number,
  paths: readonly string[],
): Promise<SampleDiff> {
  const totals = { bytes: 0, files: 0, lines: 0, addedLines: 0 };
  const streams = paths.map((path) => createWriteStream(path));
  for (let round = 0; totals.bytes < bytes; round += 1) {
    for (const [index, source] of sources.entries()) {
      if (totals.bytes >= bytes) break;
      const content = readFileSync(source);
      if (content.includes(0) || content.length === 0) continue;
      const name = `round-${round}/${source.replace(/^.*?node_modules\//, 'packages/')}`;
      const { text, lines, added } =
        (index + round) % 3 === 0 ? asNew(name, content) : asChanged(name, content);
      totals.bytes += text.length;
      totals.files += 1;
      totals.lines += lines;
      totals.addedLines += added;
      const part = Math.min(streams.length - 1, Math.floor((totals.bytes / bytes) * streams.length));
      const stream = streams[part];
      if (stream && !stream.write(text)) await once(stream, 'drain');
    }
  }
  for (const stream of streams) {
    stream.end();
    await once(stream, 'finish');
  }
  return totals;
}

interface Section {
  readonly text: Buffer;
  readonly lines: number;
  readonly added: number;
}

function linesOf(content: Buffer): readonly string[] {
  const lines = content.toString('latin1').split('\n');
  if (lines.at(-1) === '') lines.pop();
  return lines;
}

function asNew(name: string, content: Buffer): Section {
  const lines = linesOf(content);
  const header = `diff --git a/${name} b/${name}\nnew file mode 100644\nindex 0000000..1111111\n--- /dev/null\n+++ b/${name}\n@@ -0,0 +1,${lines.length} @@\n`;
  const text = Buffer.from(`${header}${lines.map((line) => `+${line}\n`).join('')}`, 'latin1');
  return { text, lines: lines.length + 6, added: lines.length };
}

/** Blocks of 20 lines: 3 of context, 9 added, 2 removed, 3 of context, 3 that the diff leaves out. */
function asChanged(name: string, content: Buffer): Section {
  const lines = linesOf(content);
  const parts = [
    `diff --git a/${name} b/${name}\nindex 1111111..2222222 100644\n--- a/${name}\n+++ b/${name}\n`,
  ];
  let added = 0;
  let written = 4;
  let oldLine = 1;
  let newLine = 1;
  for (let at = 0; at < lines.length; at += 20) {
    const block = lines.slice(at, at + 20);
    const marks = block.slice(0, 17).map((line, index) => {
      const mark = index < 3 || index >= 14 ? ' ' : index < 12 ? '+' : '-';
      return `${mark}${line}\n`;
    });
    const plus = marks.filter((line) => line.startsWith('+')).length;
    const minus = marks.filter((line) => line.startsWith('-')).length;
    const same = marks.length - plus - minus;
    parts.push(`@@ -${oldLine},${same + minus} +${newLine},${same + plus} @@\n`, ...marks);
    added += plus;
    written += marks.length + 1;
    oldLine += same + minus + block.length - marks.length;
    newLine += same + plus + block.length - marks.length;
  }
  return { text: Buffer.from(parts.join(''), 'latin1'), lines: written, added };
}

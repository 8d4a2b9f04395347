import { hunkLines } from '../../../readers/diff/hunk-lines.ts';
import { long } from '../../rooms/long.ts';
import { makeBench } from './patched.ts';

const fileCount = 2000;
const linesPerFile = 100;

long('2,000 files and 200,000 lines take seconds and little memory', async (t) => {
  const bench = await makeBench(
    Object.fromEntries(
      Array.from({ length: fileCount / 2 }, (_, index) => [
        `src/${index % 40}/f${index}.ts`,
        `// ${index}\nlast\n`,
      ]),
    ),
  );
  const parts: string[] = [];
  for (let index = 0; index < fileCount; index += 1) {
    const path = `src/${index % 40}/f${index}.ts`;
    const isNew = index >= fileCount / 2;
    const added = Array.from(
      { length: linesPerFile },
      (_, line) => `+const value${line} = ${index * line}; // ${'x'.repeat(30)}\n`,
    ).join('');
    parts.push(
      isNew
        ? `diff --git a/${path} b/${path}\nnew file mode 100644\n--- /dev/null\n+++ b/${path}\n@@ -0,0 +1,${linesPerFile} @@\n${added}`
        : `diff --git a/${path} b/${path}\n--- a/${path}\n+++ b/${path}\n@@ -1,2 +1,${linesPerFile + 2} @@\n // ${index}\n${added} last\n`,
    );
  }
  const patch = Buffer.from(parts.join(''));
  parts.length = 0;
  const before = process.memoryUsage.rss();
  const started = performance.now();
  const found = await bench.apply(patch);
  const applied = performance.now();
  let lines = 0;
  for (const file of found.files)
    for (const { kind, end, start } of hunkLines(found.diff, file))
      lines += kind === 'added' && end > start ? 1 : 0;
  const done = performance.now();
  t.equal(found.files.length, fileCount);
  t.equal(lines, fileCount * linesPerFile);
  const rss = process.memoryUsage.rss();
  t.comment(
    `${patch.length >> 20} MiB, applied in ${Math.round(applied - started)} ms, read in ${Math.round(done - applied)} ms, RSS ${before >> 20} to ${rss >> 20} MiB`,
  );
  t.ok(applied - started < 30_000);
  t.ok(rss - before < 150 * 1024 * 1024);
});

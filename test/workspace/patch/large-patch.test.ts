import { hunkLines } from '../../../readers/diff/read-sections.ts';
import { long } from '../../rooms/long.ts';
import { makeBench } from './patched.ts';

const fileCount = 2000;
const linesPerFile = 100;

long('applies and reads 2,000 files of 200,000 lines within 150 MiB', async (t) => {
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
  const found = await bench.apply(patch);
  let lines = 0;
  for (const file of found.files)
    for (const { kind, end, start } of hunkLines(found.diff, file))
      lines += kind === 'added' && end > start ? 1 : 0;
  t.equal(found.files.length, fileCount);
  t.equal(lines, fileCount * linesPerFile);
  const rss = process.memoryUsage.rss();
  t.ok(rss - before < 150 * 1024 * 1024);
});

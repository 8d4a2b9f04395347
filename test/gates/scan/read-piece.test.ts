import t from 'tap';
import { cutDiff } from '../../../gates/scan/cut-diff.ts';
import { readPiece } from '../../../gates/scan/scan-pieces.ts';
import { hunkLines } from '../../../readers/diff/read-sections.ts';
import { randomNumbers } from '../../readers/anchors/random-numbers.ts';

async function unreadIn(text: string, pieceBytes = 2 * 1024 * 1024): Promise<readonly string[]> {
  const reasons: string[] = [];
  const source = (async function* () {
    yield Buffer.from(text);
  })();
  for await (const { diff, isCut = false } of cutDiff(source, { pieceBytes, onUnscanned: () => {} })) {
    reasons.push(...readPiece(diff, undefined, isCut).unread.map(({ reason }) => reason));
  }
  return reasons;
}

const header = 'diff --git a/b.js b/b.js\nnew file mode 100644\n--- /dev/null\n+++ b/b.js\n';
const fine = `${header}@@ -0,0 +1 @@\n+fine\n`;
const added = '+eval(x)\n';

t.test('reports every part of a diff that could hide a change from the reader', async (t) => {
  const hidden: Readonly<Record<string, string>> = {
    'a combined diff': `${fine}diff --cc c.js\nindex 1,2..3\n--- a/c.js\n+++ b/c.js\n@@@ -1,1 -1,1 +1,2 @@@\n  x\n++eval(x)\n`,
    'a combined hunk': `${header}@@@ -1,1 -1,1 +1,2 @@@\n  x\n++eval(x)\n`,
    'a plain diff behind': `${fine}--- a/c.js\n+++ b/c.js\n@@ -1 +1,2 @@\n x\n${added}`,
    'a diff of another system': `${fine}Index: c.js\n=====\n--- c.js\n+++ c.js\n@@ -1 +1,2 @@\n x\n${added}`,
    'a coloured section': `${fine}\u001b[1mdiff --git a/c.js b/c.js\u001b[m\n\u001b[32m+eval(x)\u001b[m\n`,
    'a coloured hunk': `${header}\u001b[36m@@ -0,0 +1 @@\u001b[m\n\u001b[32m+eval(x)\u001b[m\n`,
    'coloured lines': `${header}@@ -0,0 +1 @@\n\u001b[32m+eval(x)\u001b[m\n`,
    'a hunk that is cut off': `${header}@@ -0,0 +1,50 @@\n+x\n`,
    'a line behind a full hunk': `${fine}${added}`,
    'a hunk of nothing': `${header}@@ -0,0 +0,0 @@\n${added}`,
    'no hunk header': `${header}${added}`,
    'sides without a hunk': header,
    'a broken hunk header': `${header}@@ -0,0 +1, @@\n${added}`,
    'a deleted file that grows': `diff --git a/b.js b/b.js\ndeleted file mode 100644\n--- a/b.js\n+++ /dev/null\n@@ -1 +1,1 @@\n-x\n${added}`,
    'an open quote': `diff --git "a/b.js b/b.js\nnew file mode 100644\n--- /dev/null\n+++ "b/b.js\n@@ -0,0 +1 @@\n${added}`,
    'lines that end in CR alone': fine.replaceAll('\n', '\r'),
  };
  for (const [what, text] of Object.entries(hidden)) t.equal((await unreadIn(text)).length, 1, what);
});

t.test('reports nothing unread in the output of git', async (t) => {
  const sound: Readonly<Record<string, string>> = {
    'a new file': fine,
    'a commit message between': `commit 1\n\n    + a point\n    @@ no\n\n${fine}\ncommit 2\nAuthor: x\n\n    - another\n\n${fine}`,
    mails: `${fine}-- \n2.39.5\n\nFrom 1 Mon\nSubject: x\n\n- a point\n+ another\n---\n b.js | 1 +\n\n${fine}-- \n2.39.5\n`,
    'a mode': 'diff --git a/x b/x\nold mode 100644\nnew mode 100755\n',
    'a rename': 'diff --git a/x b/y\nsimilarity index 100%\nrename from x\nrename to y\n',
    'an empty file': 'diff --git a/x b/x\nnew file mode 100644\nindex 0000000..e69de29\n',
    'a binary file':
      'diff --git a/x b/x\nindex 1..2 100644\nGIT binary patch\nliteral 1\n+c$\n\nliteral 0\nHcmV?d00001\n\n',
    'a deleted file':
      'diff --git a/x b/x\ndeleted file mode 100644\nindex 1..0\n--- a/x\n+++ /dev/null\n@@ -1 +0,0 @@\n-x\n',
    'no line feed at the end': `${header}@@ -0,0 +1 @@\n+x\n\\ No newline at end of file\n`,
    'content that looks like headers': `${header}@@ -0,0 +1,3 @@\n+++ b/c.js\n+@@ -1 +1 @@\n+diff --cc c.js\n`,
  };
  for (const [what, text] of Object.entries(sound)) t.same(await unreadIn(text), [], what);
  const long = `${header}@@ -0,0 +1,4000 @@\n${'+a line of some length\n'.repeat(4000)}${fine}`;
  t.same(await unreadIn(long, 4096), [], 'a file that is cut');
});

const section = (hunks: string): string => `diff --git a/x b/x\n--- a/x\n+++ b/x\n${hunks}`;

t.test('counts the added lines of a hunk whatever its header says', async (t) => {
  const hunks = [
    '@@ -1,2 +1,3 @@\n a\n+++ b\n-c\n+\n\\ No newline at end of file\n',
    '@@ -1 +1 @@ f() {\n-a\n+b\n@@ -9,0 +9,2 @@\n+c\n+d\n',
    '@@ -1,2 +1,2 @@\r\n a\r\n-b\r\n+c\r\n',
    // More lines than it says, fewer, none, a header in the midst, lines without a mark, and what mail adds.
    '@@ -1 +1 @@\n-a\n+b\n+not in it\n',
    '@@ -1,5 +1,9 @@\n a\n+b\n',
    '@@ -0,0 +0,0 @@\n+a\n',
    '@@ -1,3 +1,4 @@\n a\n+b\n@@ -1,1 +1,2 @@\n+c\n d\n',
    '@@ -1,2 +1,3 @@\n a\n@@ -x\ndel\n+b\n c\n',
    '@@ -1 +1,2 @@\n a\n+b\n-- \n2.40.1\n',
    '@@ -1,9999999999999999 +1,99999999999999999999 @@\n+a\n b\n',
  ];
  const random = randomNumbers(3);
  const lines = ['+a\n', '-b\n', ' c\n', '\n', 'd\n', '@@ -1,2 +1,2 @@\n', '@@ -1 +1 @@\n', '\\\n'];
  for (let round = 0; round < 500; round += 1)
    hunks.push(Array.from({ length: 12 }, () => lines[random(lines.length)]).join(''));
  const bytes = Buffer.from(hunks.map(section).join(''));
  const { files, addedLines } = readPiece(bytes, undefined, false);
  t.equal(files.length, hunks.length);
  for (const [index, file] of files.entries()) {
    const expected = [...hunkLines(bytes, file)].filter(({ kind }) => kind === 'added').length;
    t.equal(readPiece(bytes, [file], false).addedLines, expected, hunks[index] ?? '');
  }
  const all = files.flatMap((file) => [...hunkLines(bytes, file)].filter(({ kind }) => kind === 'added'));
  t.equal(addedLines, all.length);
});

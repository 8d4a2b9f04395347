import t from 'tap';
import { formatIdentity } from '../../../workspace/git/commit-log.ts';
import { statedAuthors } from '../../../workspace/patch/mail.ts';

const diff = 'diff --git a/x b/x\n--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n+b\n';
const mbox = 'From 0123456789012345678901234567890123456789 Mon Sep 17 00:00:00 2001\n';
const mail = (from: string, text = ''): string =>
  `${mbox}From: ${from}\nDate: Tue, 6 May 2025 07:08:09 +0000\nSubject: [PATCH] x\n\n${text}---\n x | 2 +-\n\n${diff}--\n2.40\n\n`;

function read(patch: string): { readonly authors: readonly string[]; readonly unsigned: boolean } {
  const { authors, unsigned } = statedAuthors(Buffer.from(patch));
  return { authors: authors.map(formatIdentity), unsigned };
}

t.test('authors come from the mail sender and the names in its text', (t) => {
  t.strictSame(read(mail('Ann <ann@x>')), { authors: ['Ann <ann@x>'], unsigned: false });
  t.strictSame(
    read(mail('"Doe, Jo" <jo@x>', 'words\n\nCo-authored-by: Bo <bo@x>\nSigned-off-by: Kim <kim@x>\n')),
    {
      authors: ['Doe, Jo <jo@x>', 'Bo <bo@x>'],
      unsigned: false,
    },
  );
  t.strictSame(read(mail('Ann <ann@x>', 'From: Real <real@x>\n\nwords\nFrom: afar\n')), {
    authors: ['Ann <ann@x>', 'Real <real@x>'],
    unsigned: false,
  });
  t.strictSame(read(mail('=?UTF-8?q?J=C3=B6rg?=\n =?utf-8?b?IE3DvGxsZXI=?= <j@x>')), {
    authors: ['Jörg Müller <j@x>'],
    unsigned: false,
  });
  t.strictSame(read(`From: a@x (Ann)\nSubject: x\n\nwords\n${diff}`), {
    authors: ['Ann <a@x>'],
    unsigned: false,
  });
  t.strictSame(read(mail('Ann <ann@x>') + mail('Bo <bo@x>')).authors, ['Ann <ann@x>', 'Bo <bo@x>']);
  t.end();
});

t.test('a patch with a part that names no valid author is unsigned', (t) => {
  t.strictSame(read(diff), { authors: [], unsigned: true });
  t.strictSame(read(`From: nobody in particular\nwords\n${diff}`), { authors: [], unsigned: true });
  t.strictSame(read(`Author: Ann <ann@x>\n\nCo-authored-by: Bo <bo@x>\n${diff}`), {
    authors: [],
    unsigned: true,
  });
  t.strictSame(read(`From: Ann <ann@x>\n${diff}`), { authors: [], unsigned: true }, 'one line is no mail');
  t.strictSame(read(mail('')), { authors: [], unsigned: true });
  t.strictSame(read(`${diff}${mail('Ann <ann@x>')}`), { authors: ['Ann <ann@x>'], unsigned: true });
  t.strictSame(read(mail('Ann <ann@x>') + mail('undisclosed')), { authors: ['Ann <ann@x>'], unsigned: true });
  t.strictSame(read(mail('... <...>')), { authors: [], unsigned: true }, 'git could not commit for it');
  t.end();
});

t.test('lines that a patch adds are not read as author names', (t) => {
  const added = `diff --git a/x b/x\n--- a/x\n+++ b/x\n@@ -0,0 +1,2 @@\n+From: Eve <eve@x>\n+Co-authored-by: Eve <eve@x>\n`;
  t.strictSame(read(mail('Ann <ann@x>').replace(diff, added)).authors, ['Ann <ann@x>']);
  const name = `${mbox}From: A\u0000\u001b[2J <a@x\u2028y>\nSubject: x\n\n${diff}`;
  t.strictSame(read(name).authors, ['A [2J <a@x y>']);
  t.end();
});

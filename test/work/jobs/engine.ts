import { compileGlob } from '../../../core/base/glob.ts';
import { openFrameWindow } from '../../../engine/context/admission.ts';
import { findSymbols } from '../../../engine/context/hints/find-symbols.ts';
import type { EachBlob } from '../../../engine/context/import-graph.ts';
import { javascriptImports } from '../../../engine/context/imports/javascript-imports.ts';
import { pythonImports } from '../../../engine/context/imports/python-imports.ts';
import { assertingStatements } from '../../../gates/test-cases/assertions.ts';
import { findVersion } from '../../../spec/language-runtime.ts';
import { mayHoldSecret } from '../../../spec/own-secrets.ts';
import { readIntentSpec } from '../../../spec/read-intent-spec.ts';
import { statedAuthors } from '../../../workspace/patch/mail.ts';
import { draftOf } from '../../engine/plan/sample-plan.ts';
import { bytesOf, put, sample } from '../../spec/sample.ts';
import type { Job, Jobs } from '../count-work.ts';
import { ofPieces, repeated } from '../of-pieces.ts';

const diff = 'diff --git a/x b/x\n--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n+b\n';
const mbox = 'From 0123456789012345678901234567890123456789 Mon Sep 17 00:00:00 2001\n';

/** Frames that are pushed into a window of that limit, in proportion to their number. */
function frames(limitOf: (count: number) => number): Job {
  return {
    prepare: (count) => () => {
      const limit = limitOf(count);
      const window = openFrameWindow(limit);
      for (let pushed = 0; pushed < count; pushed += 1)
        window.push({ kind: 'Note', name: '', text: '', trustTier: 'repo', tags: {} });
      if (window.size !== (limit === 0 ? count : Math.min(count, limit))) throw new Error('not all is kept');
    },
  };
}

export const jobs: Jobs = {
  ...ofPieces(
    'imports of Python',
    [
      ...['import ', ':    ', ' ', '\n', '\nimport a,', '\nfrom a import (', '#', '"""\\', '\\\n', "'"],
      '\nfrom .',
    ],
    (text) => {
      pythonImports(text);
      pythonImports(`from a import (${text}`);
    },
  ),
  ...ofPieces(
    'imports of JavaScript',
    [
      ...['import ', 'import(', 'import "', 'import /*', 'require(', '=/[', '= /', '/*', `\`\${`, `\`\${\``],
      ...['}`{', "from '", '\\', '\n', ' ', 'import("\\', 'return /'],
    ],
    (text) => {
      javascriptImports(`${text}import './a'`);
      javascriptImports(`${text}\nimport './a'`);
    },
  ),
  'frames in a window of one': frames(() => 1),
  'frames in a window of 128': frames(() => 128),
  'frames in a window of half of them': frames((count) => count / 2),
  'frames in a window without a limit': frames(() => 0),
  ...Object.fromEntries(
    (
      [
        ...[
          ['function f ', 1_200],
          ['f(', 600],
          ['class F{function f(', 1_200],
          ['f ', 600],
        ],
        ...[
          ['function f(){\n', 1_200],
          ['"', 20_000],
          ['typedef f', 20_000],
        ],
      ] as [string, number][]
    ).map(([unit, size]) => [
      `symbols in ${JSON.stringify(unit)}`,
      { prepare: (long: number) => symbolsIn(repeated(unit, long)), size },
    ]),
  ),
  ...ofPieces('the version in an output', ['1.'], findVersion),
  ...ofPieces('may hold a secret', ['a', 'aA', 'a-', '0a', 'f'.repeat(40)], mayHoldSecret),
  'objectives of a plan in one place': {
    prepare: (count) => {
      const objectives = Array.from({ length: count }, (_, index) =>
        index % 3 === 0
          ? `tidy src/ ${index}`
          : index % 3 === 1
            ? `write src/part-${index % 97}/file.ts ${index}`
            : `all of src/*-${index}.ts`,
      );
      return () => draftOf({ objectives, checks: { fast: ['a'] } });
    },
    size: 400,
  },
  // The signs of the pattern are as many at each size: the path alone grows.
  'a glob of stars': globbed(`${'*a'.repeat(40)}b`, 'a'),
  'a glob of directories': globbed(`${'**/'.repeat(40)}x`, 'a/'),
  'a glob of braces': globbed(`${'{a,aa}'.repeat(40)}b`, 'a'),
  ...ofPieces(
    'asserting statements',
    [
      (size) => `assert.equal(${'('.repeat(size)}`,
      'assert.equal(\n',
      (size) => `'${"\\'".repeat(size / 2)}`,
      (size) => `${'expect('.repeat(size / 21)}\n`.repeat(3),
    ],
    assertingStatements,
  ),
  ...ofPieces('who sent a patch', ['=?u?q?', '<', '(', '"', ' ', 'a@', '=?a?b?=?= '], (text) =>
    statedAuthors(Buffer.from(`${mbox}From: ${text}\n\n${diff}`)),
  ),
  ...ofPieces('who sent a patch, folded', [' b\n'], (text) =>
    statedAuthors(Buffer.from(`${mbox}From: a\n${text}\n${diff}`)),
  ),
  'a flood of violations': flood(() => 1),
  'a flood of empty objects': flood(() => ({})),
};

function globbed(pattern: string, piece: string): Job {
  return {
    prepare: (size) => {
      const glob = compileGlob(pattern);
      const path = repeated(piece, size);
      return () => {
        if (glob.matches(path)) throw new Error(`${pattern} matches`);
      };
    },
    size: 250,
  };
}

function flood(item: () => number | object): Job {
  return {
    prepare: (count) => {
      const document = sample('minimal');
      const list = Array.from({ length: count }, item);
      put(document, ['acceptance', 'verificationPlan', 'fastChecks'], list as never);
      const bytes = bytesOf(document);
      return () => readIntentSpec(bytes);
    },
  };
}

function symbolsIn(text: string): () => unknown {
  const entry = { path: 'h.ts', mode: '100644', object: '', sizeBytes: text.length } as const;
  const bytes = Buffer.from(text, 'latin1');
  // Without git: how its output is divided into pieces differs from run to run.
  const eachBlob: EachBlob = async (files, take) => {
    for (const file of files) await take(file, bytes);
  };
  return () => findSymbols(eachBlob, [entry], ['f', 'F.f', 'G.f', 'f.F']);
}

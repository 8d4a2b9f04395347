import t from 'tap';
import {
  declaringLanguage,
  grammarOf,
  isCode,
  isMarkup,
  languageGlobs,
  languageOf,
  scriptLanguage,
} from '../../../readers/source/language.ts';

t.test('detects the language from the file extension, the name or the shebang', async (t) => {
  t.equal(languageOf('a.b/c/x.MTS'), 'javascript');
  t.equal(languageOf('a/Rakefile'), 'ruby');
  t.equal(languageOf('bin/run', '#!/usr/bin/env python3'), 'python');
  t.equal(languageOf('bin/run', 'python3'), undefined);
  t.equal(languageOf('x.py', '#!/bin/sh'), 'python');
  t.equal(languageOf('x.lua'), undefined);
  t.ok(languageGlobs.includes('**/*.vue') && languageGlobs.includes('**/Jenkinsfile'));
  t.notOk(languageGlobs.some((glob) => /\.(?:lua|mm|hxx)$/.test(glob)));
});

t.test('looks for declarations only in source of supported languages', async (t) => {
  t.equal(declaringLanguage('x.tsx'), 'javascript');
  t.equal(declaringLanguage('x.vue'), undefined);
  t.equal(declaringLanguage('x.mm'), 'c');
  t.equal(declaringLanguage('x.lua'), 'lua');
  t.equal(declaringLanguage('x.pl'), undefined);
});

t.test('distinguishes source from markup and data', async (t) => {
  for (const path of ['x.mjs', 'a/x.PY', 'x.go', 'x.lua', 'tools/x.pl', 'Gemfile', 'build.gradle'])
    t.ok(isCode(path), path);
  for (const path of ['x.vue', 'x.html', 'x.json', 'x.md', 'bin/run']) t.notOk(isCode(path), path);
  t.ok(isMarkup('a/x.HTML') && !isMarkup('x.js'));
  t.equal(scriptLanguage('x.html'), undefined);
  t.equal(scriptLanguage('x.rake'), 'ruby');
});

t.test('chooses the grammar of a file by its kind, or none', async (t) => {
  const grammars = { 'x.js': 'javascript', 'x.cts': 'typescript', 'x.html': 'typescript', 'x.JSX': 'tsx' };
  for (const [path, grammar] of Object.entries(grammars))
    t.equal(grammarOf(path, 'javascript'), grammar, path);
  t.equal(grammarOf('bin/ts', 'javascript'), 'javascript');
  t.equal(grammarOf('X.java', 'java'), 'java');
  for (const path of ['a.groovy', 'build.gradle', 'ci/Jenkinsfile'])
    t.equal(grammarOf(path, 'java'), 'groovy');
  t.equal(grammarOf('x.pl', 'perl'), undefined);
});

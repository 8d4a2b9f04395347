import { sensitiveClasses } from '../../../core/interfaces/privacy.ts';
import { duckDuckGoSearch } from '../../../plugins/web-search/plugin.ts';
import { versionOrder } from '../../../readers/advisories/scan-packages.ts';
import { htmlText } from '../../../readers/documents/html/html-text.ts';
import { readPackageSet } from '../../../readers/packages/apply-manifests.ts';
import { yamlContent } from '../../../readers/packages/content.ts';
import { readDependencies } from '../../../readers/packages/read-dependencies.ts';
import { findSensitive } from '../../../readers/sensitive/find-sensitive.ts';
import { redact } from '../../../readers/sensitive/redact.ts';
import { findSecrets } from '../../../readers/sensitive/secrets/find-secrets.ts';
import { filesOf } from '../../readers/packages/read-fixture.ts';
import { inventedSecrets } from '../../readers/sensitive/secrets/invented-secrets.ts';
import type { Jobs } from '../count-work.ts';
import { ofPieces, repeated } from '../of-pieces.ts';

const classes = new Set(sensitiveClasses);
const key = Buffer.alloc(32, 7);
const token = inventedSecrets.find(([rule]) => rule === 'github-token')?.[1] ?? '';
const secretsIn = (text: string) => findSecrets(Buffer.from(text, 'latin1'));
const clean = (text: string): Uint8Array => redact(Buffer.from(text), { key, classes, words: {} }).bytes;

// The search for secrets is another one once much has been looked through.
findSecrets(Buffer.alloc(1024 * 1024));

export const jobs: Jobs = {
  ...ofPieces(
    'a page of HTML',
    [
      ...['<', '<!--', '<script>', '<a href="', "<a b='", '<a class=result__a>'],
      ...['&', '&#', '</', '<a ', 'a='],
    ],
    (page) => {
      htmlText(page, 1_000_000);
      duckDuckGoSearch.read({ status: 200, body: Buffer.from(page) });
    },
  ),
  ...ofPieces(
    'secrets',
    [
      ...['-----BEGIN PRIVATE KEY-----', 'eyJ', '-eyJ', '://', 'sk-', ':AA', '.', 'AKIA'],
      ...['aws_secret_access_key', 'a'.repeat(64)],
      ...['password="', "token='\\", '"PASSWORD=', ';password=', '&password=', '<password>', "mysql -p'"],
    ],
    secretsIn,
    { size: 3_000 },
  ),
  // Each may begin a key of many kilobytes, which is looked for as far as one may reach.
  ...ofPieces('secrets', ['PuTTY-User-Key-File-2: '.padEnd(300, 'a')], secretsIn, { size: 15_000 }),
  ...ofPieces(
    'personal data',
    [
      ...['1 ', '1-', '+1', '(', 'A1', '@a.', 'a@', 'a.', '12:', '2001:', 'CONFIDENTIAL\n', 'DOB ', 'MRN '],
      ...['diagnosis A01 ', 'insulin ', '%41', '&#64;', '4111 ', '0000', 'AA00'],
    ],
    (text) => findSensitive(Buffer.from(text), { classes, words: {} }),
  ),
  ...ofPieces('redacted', ['%41', '&#64;', 'QUJD', 'a%', '&amp;', 'QUJD ', '%', 'a b%20'], clean, {
    size: 6_000,
  }),
  ...ofPieces(
    'redacted',
    [
      (size) => `${'['.repeat(size)}"${token}"`,
      (size) => `"${'\\'.repeat(size)}${token}"`,
      (size) => `[${' '.repeat(size)}"${token}"]`,
      (size) => `[${'1'.repeat(size)},"${token}"]`,
      (size) => `<a ${'b'.repeat(size)} c="${token}"/>`,
      (size) => `{${Array.from({ length: size / 20 }, (_, index) => `"p${index}@corp.io":1`).join()}}`,
    ],
    clean,
    { size: 6_000 },
  ),
  ...ofPieces('a.gradle', ['repositories{', 'repositories.x('], (text) =>
    readDependencies(filesOf({ 'a.gradle': text })),
  ),
  'a.gradle: a block in a block': {
    prepare: (size) => {
      const files = filesOf({ 'a.gradle': `repositories { ${repeated('maven{', size)}` });
      return () => readDependencies(files);
    },
  },
  ...ofPieces('setup.cfg', ['a;'], (text) =>
    readDependencies(filesOf({ 'setup.cfg': `[options]\ninstall_requires = ${text}` })),
  ),
  ...ofPieces('Gemfile', ["gem 'a',\n"], (text) => readDependencies(filesOf({ Gemfile: text }))),
  'a mapping of YAML': {
    prepare: (size) => {
      const rows = Array.from({ length: size }, (_, at) => `"${'k'.repeat(40)}-${at}": v\n`);
      const text = `fancy: ! v\n${rows.join('')}`;
      return () => {
        const content = yamlContent(text);
        if (!('value' in content)) throw new Error(content.reason);
      };
    },
    size: 200,
  },
  'packages of a lock file': {
    prepare: (size) => {
      const rows = Array.from(
        { length: size },
        (_, at) =>
          `\n[[package]]\nname = "c-${at}"\nversion = "1.0.0"\nsource = "registry+https://github.com/rust-lang/crates.io-index"\ndependencies = [\n "c-${(at * 7) % size}",\n]\n`,
      );
      const files = filesOf({ 'Cargo.lock': `version = 3\n${rows.join('')}` });
      return () => {
        if (readPackageSet(files).packages.length !== size) throw new Error('not all are there');
      };
    },
    size: 200,
  },
  ...Object.fromEntries(
    (['npm', 'pypi', 'maven', 'rubygems', 'packagist'] as const).flatMap((ecosystem) =>
      Object.entries(
        ofPieces(
          `versions of ${ecosystem}`,
          ['1.', '1-', 'a1', '-_.', '0'],
          (text) => versionOrder(ecosystem)(text, `${text.slice(0, -2)}!!`),
          { size: 60 },
        ),
      ),
    ),
  ),
};

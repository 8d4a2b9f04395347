import { type Guard, within } from './guard.ts';

const clean = 'test/readers/sensitive/clean-output.test.ts';
const verdict = 'a verdict with the name of a test';
const title = 'the title of a test is no password';
const words = 'words that are joined are no key';

/** What redaction leaves alone, and what it must not leave for that reason. */
export const guards: readonly Guard[] = [
  ...within('readers/sensitive/secrets/assigned-secret.ts', clean, [
    [
      'names behind a verdict are left',
      'const isVerdict = verdict.test(matched) &&',
      'const isVerdict = false &&',
      verdict,
    ],
    [
      'a verdict is in capitals, with a colon',
      'const verdict = /^PASS[ \\t]{0,2}:/;',
      'const verdict = /^pass/i;',
      verdict,
    ],
    ['no name goes before a verdict', 'verdictBefore.test(before);', 'true;', verdict],
    ['random letters behind a verdict', '&& isJoinedWords(found);', ';', verdict],
    ['titles of tests are left', '(titled.test(matched) && snakeCase.test(found))', 'false', title],
    ['a passphrase is no title', '&& snakeCase.test(found))', ')', title],
    [
      'names are no keys',
      'measured.test(found) : isJoinedWords(found);',
      'measured.test(found) : false;',
      words,
    ],
    [
      'times of a pass are left',
      'return isWord ? measured.test(found) :',
      'return isWord ? false :',
      'the time of a pass',
    ],
  ]),
  ...within('readers/sensitive/secrets/joined-words.ts', clean, [
    ['words have few numbers', 'if ((plain.length - letters) * 4 > plain.length) return false;', '', words],
    ['letters of words follow each other', '* 10 > pairs) return false;', '* 10 > 1e9) return false;', words],
    ['abbreviations are no words', 'if (judged * 2 < letters) return false;', '', words],
  ]),
  ...within('readers/sensitive/personal/find-emails.ts', clean, [
    ['versions are no hosts', ' || versionForm.test(domain)', '', 'a package with its version'],
    ['a host is no version', 'stable)(?![A-Za-z])/i;', 'stable)?/i;', 'a package with its version'],
  ]),
];

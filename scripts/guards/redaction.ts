import { type Guard, within } from './guard.ts';

const clean = 'test/readers/sensitive/clean-output.test.ts';
const verdict = 'a verdict with the name of a test';
const title = 'the title of a test is no password';
const fields = 'test/readers/sensitive/identity-fields.test.ts';
const kinds = 'fields that name things';
const people = 'what is said of people';
const strict = 'what is not strictly a document';
const disguised = 'test/readers/sensitive/disguised-secrets.test.ts';
const found = 'a token is found in every disguise';
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
  ...within('readers/sensitive/structured/identity-fields.ts', fields, [
    ['known kinds of documents', 'if (!kind.is(mark)) continue;', 'continue;', kinds],
    ['a name is one word', '&& oneWord.test(value)) return true;', ') return true;', kinds],
    [
      'people are no packages',
      'const except = new Set(ofPeople);',
      'const except = new Set<string>();',
      people,
    ],
    ['names of properties are free', "except: ['properties', 'property'],", '', people],
    ['a purl by its form', 'always[name]?.test(value) === true', 'name in always', 'a purl, a digest'],
    ['a purl of no kind', 'return always[name]?.test(value) === true', 'return false', 'a purl, a digest'],
  ]),
  ...within('readers/sensitive/structured/resolve.ts', fields, [
    ['a document says its kind outermost', 'if (depth > 1 ||', 'if (', 'a document says what it is'],
    [
      'escapes that do not exist',
      'return isLoose || !piece.slice(from).includes(mark);',
      'return true;',
      strict,
    ],
  ]),
  ...within('readers/sensitive/structured/redact-structured.ts', fields, [
    ['identity is held against known forms', 'isHeld ? certain :', 'isHeld ? [] :', kinds],
    ['soft hits in identity are left', "const isHeld = kind === 'text' &&", 'const isHeld = false &&', kinds],
    [
      'names that differ',
      "kind === 'key' ? names.unique(piece, raw.subarray(start, end)) : piece",
      'piece',
      'names of members',
    ],
    [
      'bytes around what is removed',
      'return isEnd ? rawEnd : rawBegin;',
      'return rawEnd;',
      'every byte that stands',
    ],
  ]),
  ...within('readers/sensitive/structured/json.ts', fields, [
    [
      'a comma is followed by a member',
      "'comma-or-end' : 'colon')) return false;",
      "'comma-or-end' : 'colon')) next = 'value';",
      strict,
    ],
    ['brackets close as they open', 'return closers.length === 0;', 'return true;', strict],
  ]),
  ...within('readers/sensitive/structured/xml.ts', fields, [
    [
      'elements close as they open',
      'if (open.pop() !== called || text',
      'open.pop();\n        if (text',
      strict,
    ],
    ['one root', 'if (open.length === 0 && hasRoot) return false;', '', strict],
  ]),
  ...within('readers/sensitive/structured/redact-structured.ts', disguised, [
    ['a secret in the name of an element', 'if (reached.size < known.length) return undefined;', '', found],
  ]),
  ...within('readers/sensitive/views.ts', disguised, [
    ['colours are not seen', 'if (first === 0x1b) return controlLength(bytes, at);', '', found],
    ['any number of backslashes', 'while (whole[next] === backslash) next += 1;', '', found],
    ['octal escapes', "if (octal !== '') return", 'if (octal === octal + 1) return', found],
    ['a line that goes on', "if (char === '\\n' || char === '\\r') return [1, -1];", '', found],
  ]),
  ...within('readers/sensitive/regions.ts', disguised, [
    ['colours behind escapes', 'clear ? behind(resolved, clear) : resolved', 'resolved', found],
    [
      'escapes are resolved for known forms alone',
      'if (match.soft !== true) matches.push',
      'matches.push',
      'of an escape that is no part',
    ],
  ]),
];

import t from 'tap';
import { isWritError, messageOf } from '../../core/base/errors.ts';
import { parseEnvFile } from '../../providers/keys.ts';

const parse = (text: string): Record<string, string> => Object.fromEntries(parseEnvFile(Buffer.from(text)));

t.test('reads plain, single-quoted and double-quoted values', async (t) => {
  t.strictSame(
    parse(
      [
        '\uFEFFFIRST=1',
        '# a comment',
        '',
        '  export TWO = two words  ',
        'HASH=a#b # and a comment',
        'EMPTY=',
        'ONLY=# a comment',
        "SINGLE='a # b \\n $X \"'  # c",
        'DOUBLE="a # b\\n\\t\\"\\\\\\$ \'"',
        'PLAIN=$HOME\\n',
        'EQUALS=a=b==',
        'LAST=é',
      ].join('\r\n'),
    ),
    {
      FIRST: '1',
      TWO: 'two words',
      HASH: 'a#b',
      EMPTY: '',
      ONLY: '',
      SINGLE: 'a # b \\n $X "',
      DOUBLE: 'a # b\n\t"\\$ \'',
      PLAIN: '$HOME\\n',
      EQUALS: 'a=b==',
      LAST: 'é',
    },
  );
  t.strictSame(parse(''), {});
  t.strictSame(Object.keys(parse('__proto__=x')), ['__proto__']);
});

t.test('reports any other line by number without showing its text', async (t) => {
  for (const line of [
    'canary',
    '1CANARY=canary',
    'CAN-ARY=canary',
    '=canary',
    'export canary',
    'A="canary',
    "A='canary",
    'A="canary\\',
    'A="canary\\x"',
    'A="canary" more',
    'A=`canary`',
    'A=can\u0000ary',
    'A=can\rary',
    'A="canary\u001b[31m"',
    'FIRST=canary',
    `${'N'.repeat(129)}=canary`,
  ]) {
    let fault: unknown;
    try {
      parse(`FIRST=1\n\n${line}\nLAST=1`);
    } catch (thrown) {
      fault = thrown;
    }
    t.ok(isWritError(fault, 'ENV_FILE_MALFORMED'), JSON.stringify(line));
    t.match(fault, { detail: { line: 3 } });
    t.match(messageOf(fault), 'line 3');
    t.notMatch(JSON.stringify([messageOf(fault), (fault as { detail: object }).detail]), /canary|CANARY|NNN/);
  }
});

t.test('refuses a file that is not UTF-8 or too large', async (t) => {
  t.throws(() => parseEnvFile(Buffer.from([0x41, 0x3d, 0xff])), { code: 'ENV_FILE_MALFORMED' });
  t.throws(() => parseEnvFile(Buffer.alloc(256 * 1024 + 1, 'A')), { code: 'INPUT_TOO_LARGE' });
  t.strictSame(parse(`A=${' #'.repeat(100_000)}\u2028`), { A: '' }, 'in one go');
});

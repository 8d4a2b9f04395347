import t from 'tap';
import { findVersion, meets, readLanguageRuntime } from '../../spec/language-runtime.ts';

const demands = (text: string): readonly string[] | string => {
  const read = readLanguageRuntime(text);
  return 'message' in read ? read.message : read.map((demand) => demand.text);
};

t.test(
  'requirements may be separated by commas or blanks, with or without blanks around the operator',
  async (t) => {
    t.strictSame(demands(''), []);
    t.strictSame(demands(' \t, '), []);
    t.strictSame(demands('node>=22'), ['node>=22']);
    t.strictSame(demands('Node >= v22.1,python~3.11  go^1.22 ,java=21,rust>1'), [
      'node>=22.1',
      'python~3.11',
      'go^1.22',
      'java=21',
      'rust>1',
    ]);
    t.strictSame(demands('node>=22 node^24'), ['node>=22', 'node^24']);
  },
);

t.test('an invalid requirement is refused with what was found', async (t) => {
  for (const text of [
    'node',
    '22',
    'node>=',
    'node>=x',
    'node>=1.2.3.4',
    'node<22',
    'node=>22',
    'node>==22',
    'node>=22-rc1',
    'node>=22;rm -rf /',
    '$(id)>=1',
    'node>=9999999',
    'node>=1.',
    `node>=${'1'.repeat(120)}`,
  ]) {
    t.match(demands(text), /^expected a tool, one of .*found `/, text);
  }
  t.match(demands('cobol>=85'), /^expected one of the tools .*found `cobol`$/);
  t.notMatch(demands('a\u001b[31mb'), '\u001b');
});

t.test('a version is found in the real output of tools', async (t) => {
  const table: Readonly<Record<string, readonly [readonly number[], boolean]>> = {
    'v24.21.0\n': [[24, 21, 0], false],
    'v23.0.0-rc.1': [[23, 0, 0], true],
    'v26.0.0-nightly20260101abcdef': [[26, 0, 0], true],
    'Python 3.13.0rc2': [[3, 13, 0], true],
    'Python 3.14.0a1': [[3, 14, 0], true],
    '1.22rc1 linux/amd64': [[1, 22], true],
    'openjdk version "1.8.0_392"': [[1, 8, 0], false],
    'openjdk version "22-ea" 2024-03-19': [[22], true],
    'ruby 3.2.2p53 (2023-03-30)': [[3, 2, 2], false],
    'GNU bash, version 5.2.15(1)-release (x86_64)': [[5, 2, 15], false],
    'Ubuntu clang version 18.1.3 (1ubuntu1)': [[18, 1, 3], false],
    'git version 2.39.5 (Apple Git-154)': [[2, 39, 5], false],
  };
  for (const [output, [numbers, early]] of Object.entries(table)) {
    t.match(findVersion(output), { numbers, early }, output);
  }
  t.equal(findVersion('no version at all'), undefined);
  t.equal(findVersion(''), undefined);
});

t.test('an operator compares only as many numbers as the requirement has', async (t) => {
  const table: readonly (readonly [demand: string, yes: string, no: string])[] = [
    ['>= 22', '22.0.0 22.1.0 24.0.0 100', '21.99.99 9.9 22.0.0-rc.1'],
    ['>= 3.11', '3.11 3.11.2 3.12 4', '3.10.9 3.9 2.99 3.11.0rc1'],
    ['> 3.11', '3.12.0 4', '3.11 3.11.9 3.10'],
    ['> 3.11.2', '3.11.3 3.12', '3.11.2 3.11'],
    ['= 22', '22 22.99.1', '21.9 23.0 2.2 22.0.0-rc.1'],
    ['= 1.22.4', '1.22.4', '1.22 1.22.5 1.22.40'],
    ['^ 1.22', '1.22 1.23 1.99.9', '1.21 2.0'],
    ['^ 0.3.1', '0.3.1 0.3.9', '0.4.0 0.3.0 1.0'],
    ['^ 0', '0 0.9', '1'],
    ['~ 3.11', '3.11.0 3.11.9', '3.12 3.10 4'],
    ['~ 3.11.4', '3.11.4 3.11.9', '3.11.3 3.12'],
    ['~ 3', '3 3.99', '4 2.9'],
  ];
  for (const [demand, yes, no] of table) {
    const [operator = '', wanted = ''] = demand.split(' ');
    const judge = (text: string): boolean => {
      const found = findVersion(text);
      if (!found) throw new Error(text);
      return meets(found, operator as '>=', wanted.split('.').map(Number));
    };
    for (const text of yes.split(' ')) t.equal(judge(text), true, `${text} ${demand}`);
    for (const text of no.split(' ')) t.equal(judge(text), false, `${text} ${demand}`);
  }
});

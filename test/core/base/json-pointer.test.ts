import t from 'tap';
import {
  appendPointer,
  parentPointer,
  parsePointer,
  toPointer,
  valueAt,
} from '../../../core/base/json-pointer.ts';

t.test('the pointers of RFC 6901, section 5 resolve to the values in the RFC', async (t) => {
  const document = {
    foo: ['bar', 'baz'],
    '': 0,
    'a/b': 1,
    'c%d': 2,
    'e^f': 3,
    'g|h': 4,
    'i\\j': 5,
    'k"l': 6,
    ' ': 7,
    'm~n': 8,
  };
  const table: readonly (readonly [pointer: string, value: unknown])[] = [
    ['', document],
    ['/foo', ['bar', 'baz']],
    ['/foo/0', 'bar'],
    ['/', 0],
    ['/a~1b', 1],
    ['/c%d', 2],
    ['/e^f', 3],
    ['/g|h', 4],
    ['/i\\j', 5],
    ['/k"l', 6],
    ['/ ', 7],
    ['/m~0n', 8],
  ];
  for (const [pointer, value] of table) t.same(valueAt(document, pointer), value, pointer);
});

t.test('tokens survive conversion to a pointer and back', async (t) => {
  for (const tokens of [[], [''], ['a/b', '~', '~1', '~01'], ['x', '0']])
    t.strictSame(parsePointer(toPointer(tokens)), tokens);
  t.equal(appendPointer('/a', 3), '/a/3');
  t.equal(parentPointer('/a/b~1c'), '/a');
  t.equal(parentPointer('/a'), '');
  t.equal(parentPointer(''), '');
});

t.test('an invalid or dangling pointer resolves to nothing', async (t) => {
  t.equal(parsePointer('a'), undefined);
  t.equal(parsePointer('/a~2'), undefined);
  const document = { a: ['x'], b: { c: 1 } };
  for (const pointer of ['/a/1', '/a/00', '/a/length', '/b/toString', '/constructor', '/b/c/d', '/a~']) {
    t.equal(valueAt(document, pointer), undefined, pointer);
  }
});

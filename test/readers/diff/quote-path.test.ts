import t from 'tap';
import { quotePath, unquotePath } from '../../../readers/diff/read-sections.ts';

t.test('quotes a path as git does and reads it back unchanged', async (t) => {
  t.equal(quotePath('src/é x.js'), 'src/é x.js');
  t.equal(quotePath('a:b#c'), 'a:b#c');
  t.equal(quotePath('a:b', /:/), '"a:b"');
  t.equal(quotePath('a"b\\c\n\t\r\u0001\u007f'), '"a\\"b\\\\c\\n\\t\\r\\001\\177"');
  for (let code = 1; code < 256; code += 1) {
    const name = `a/${String.fromCharCode(code)}"z`;
    t.equal(unquotePath(Buffer.from(quotePath(name)))?.path, name, String(code));
  }
});

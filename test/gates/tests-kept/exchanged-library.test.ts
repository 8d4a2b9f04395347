import t from 'tap';
import { exchangedLibrary } from '../../../gates/tests-kept/exchanged-library.ts';

const read = (path: string, text: string) => ({ path, text, code: text });

t.test('a file that re-exports one name of a library is not a hollow replacement', (t) => {
  const base = read('a.test.js', "import { expect } from 'chai';\n");
  const candidate = read('a.test.js', "import expect from './expect.js';\n");
  const among = (text: string) =>
    exchangedLibrary(base, candidate, 'javascript', new Map([['expect', read('expect.js', text)]]));
  const library = "import { expect, assert } from 'chai';\n";
  t.same(among(`${library}export default expect;\n`), []);
  t.same(among(`${library}export default assert;\n`), []);
  t.match(among(`${library}export default () => {};\n`), [{ isHollow: true }]);
  t.end();
});

import t from 'tap';
import { codeText } from '../../../gates/test-cases/test-text.ts';
import { readTokens } from '../../../readers/source/tokens/lex.ts';

t.test('`codeText` blanks strings and comments and keeps every offset', (t) => {
  const code = (text: string): string => codeText(text, readTokens(text, 'javascript', true));
  t.equal(code("f('a b'); // c"), "f('   ');     ");
  t.equal(code("f('');\n/* a\n*/ g(`x\ny`);"), "f('');\n    \n   g(` \n `);");
  t.end();
});

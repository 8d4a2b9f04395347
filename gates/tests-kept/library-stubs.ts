import { libraryNames } from '../test-cases/library-bindings.ts';

const maxNames = 60;
/** Names that say what a test is; anything may be called so. */
const common = /^(?:test|it|describe|suite|before|after|beforeEach|afterEach|context|mock|vi|jest|t)$/;

/**
 * Offsets where code of JavaScript writes to what it took from a test library, by whatever name: a member, all members,
 * through `Reflect` and `Object`, by a mock, or hides it behind a local of the same name.
 */
export function libraryStubs(code: string, text: string, before: string | undefined): readonly number[] {
  const names = [...libraryNames(text, code)].filter((name) => !/\$/.test(name)).slice(0, maxNames);
  const offsets: number[] = [];
  const find = (form: string, isText = false): void => {
    for (const { index, 0: found } of (isText ? text : code).matchAll(new RegExp(form, 'gm')))
      if (/\S/.test(code.slice(index, index + found.length)))
        offsets.push(index + (found.length - found.trimStart().length));
  };
  find(
    String.raw`\brequire\s*\(\s*["'](?:node:)?(?:assert(?:/strict)?|chai|test)["']\s*\)(?:\.\w{1,40}){1,3}\s*=(?![=>])`,
    true,
  );
  if (names.length === 0) return offsets;
  const any = `(?:${names.join('|')})`;
  const member = String.raw`(?:\.(?!config\b|timeout\b)\w{1,40}|\[[^\]\n]{0,80}\])`;
  find(String.raw`(?<![\w.$])${any}${member}{1,4}\s*=(?![=>])`);
  find(
    String.raw`\b(?:Object|Reflect)\.(?:assign|defineProperty|defineProperties|setPrototypeOf|set|deleteProperty)\s*\(\s*${any}\b`,
  );
  find(
    String.raw`\b(?:method|stub|spyOn|replace|fake|getter|setter|property)\s*\(\s*${any}(?:\.\w{1,40}){0,2}\s*,`,
  );
  find(String.raw`\bdelete\s+${any}${member}`);
  find(String.raw`\bnew\s+Proxy\s*\(\s*${any}\b`);
  const own = names.filter((name) => !common.test(name));
  if (own.length === 0) return offsets;
  const judging = `(?:${own.join('|')})`;
  find(String.raw`(?:^|[;{}])\s*${judging}\s*=(?![=>])`);
  if (before !== undefined) {
    find(String.raw`[(,]\s*${judging}\s*=(?![=>])\s*(?:new\s+Proxy|\(|\{|function|\w{1,20}\s*=>)`);
    find(
      String.raw`\b(?:const|let|var)\s+\{[^}\n]{0,200}\b${judging}\b[^}\n]{0,200}\}\s*=\s*(?:\{|new\s+Proxy)`,
    );
    find(
      String.raw`\b(?:const|let|var)\s+${judging}\s*=\s*(?:\{|\(|async\b|function\b|new\s+Proxy|\w{1,20}\s*=>)`,
    );
  }
  return offsets;
}

import { readFileSync } from 'node:fs';
import t from 'tap';
import { Language, Parser, Query as ReferenceQuery } from 'web-tree-sitter';
import { fileEndings, parseCases } from '../../../bench/parse-cases.ts';
import { csharpNaming } from '../../../gates/direct-eval/csharp.ts';
import { goNaming } from '../../../gates/direct-eval/go.ts';
import { javascriptNaming } from '../../../gates/direct-eval/javascript.ts';
import { jvmLanguages } from '../../../gates/direct-eval/jvm.ts';
import { phpNaming } from '../../../gates/direct-eval/php.ts';
import { pythonNaming } from '../../../gates/direct-eval/python.ts';
import { rubyNaming } from '../../../gates/direct-eval/ruby.ts';
import { grammarFile, shippedGrammar } from '../../../gates/direct-eval/scan-change.ts';
import { parseSyntax } from '../../../readers/source/grammar/parse-syntax.ts';
import type { GrammarName, SyntaxNode } from '../../../readers/source/grammar/syntax-tree.ts';
import type { NamingLanguage } from '../../../readers/source/names/names.ts';

/** Languages whose names are said in queries, and the grammar that knows all of their types. */
const namings: readonly (readonly [language: string, grammar: GrammarName, naming: NamingLanguage])[] = [
  ['csharp', 'c-sharp', csharpNaming],
  ['go', 'go', goNaming],
  ['java', 'java', jvmLanguages.java],
  ['javascript', 'typescript', javascriptNaming],
  ['kotlin', 'kotlin', jvmLanguages.kotlin],
  ['php', 'php', phpNaming],
  ['python', 'python', pythonNaming],
  ['ruby', 'ruby', rubyNaming],
  ['scala', 'scala', jvmLanguages.scala],
];

const fixtures = new URL('../../../fixtures/scan/', import.meta.url);

/** Source of a language: its sample and every labelled case by itself, as far as offsets are bytes. */
function sourcesOf(language: string): readonly string[] {
  const read = (name: string) => readFileSync(new URL(`${language}/${name}`, fixtures), 'utf8');
  return [
    read(`sample.${fileEndings[language]}`),
    ...parseCases(read('direct-eval.cases'), language).map(({ code }) => code),
  ].filter((text) => !/[^\x00-\x7f]/.test(text));
}

async function reference(
  name: GrammarName,
): Promise<{ readonly parser: Parser; readonly grammar: Language }> {
  await Parser.init();
  const grammar = await Language.load(readFileSync(grammarFile(name)));
  return { parser: new Parser().setLanguage(grammar), grammar };
}

for (const [language, name, { declarations, patterns, expressions, values }] of namings)
  t.test(`the ${language} name queries match the same nodes as the tree-sitter runtime`, async (t) => {
    const { parser, grammar } = await reference(name);
    const own = await shippedGrammar(name);
    let count = 0;
    for (const query of [declarations, patterns, expressions, values]) {
      if (!query) continue;
      const referenceQuery = new ReferenceQuery(grammar, query.text);
      for (const source of sourcesOf(language)) {
        const tree = parseSyntax(own, source);
        const referenceTree = parser.parse(source);
        if (!tree || !referenceTree) throw new Error(source);
        const text = (node: SyntaxNode) => source.slice(node.start, node.end);
        const found = tree.nodes
          .flatMap((node) => query.at(node, text))
          .map((match) => match.taken.map(([one, { start, end }]) => `${one} ${start} ${end}`));
        const expected = referenceQuery
          .matches(referenceTree.rootNode)
          .map(({ captures }) =>
            captures.map(({ name: one, node }) => `${one} ${node.startIndex} ${node.endIndex}`),
          )
          // What rows without children say is of the type, not of a place.
          .filter((taken) => !taken.every((one) => /^(?:scope|plain|member)/.test(one)));
        count += found.length;
        // What `*` takes at once the runtime gives apart where a comma stands between.
        const missed = expected.filter(
          (taken) => !found.some((one) => taken.every((part) => one.includes(part))),
        );
        const added = found.filter(
          (taken) => !taken.every((part) => expected.some((one) => one.includes(part))),
        );
        if (missed.length + added.length > 0) t.fail(source, { missed, added });
      }
    }
    t.ok(count > 50, `${count} matches`);
  });

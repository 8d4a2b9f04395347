/*
 * A plugin of Stryker that leaves prose alone. Tests assert codes and records, not sentences, so a mutant of a sentence
 * says nothing about them. Texts without a space (codes, names, paths) are mutated.
 */

/** As much of a Babel path as is read here. */
interface SyntaxPath {
  readonly node:
    | { readonly type: 'StringLiteral'; readonly value: string }
    | {
        readonly type: 'TemplateLiteral';
        readonly quasis: readonly { readonly value: { readonly raw: string } }[];
      }
    | { readonly type: 'other' };
}

/** Two words with a space between them. */
const prose = /[\p{L}`'")\]][,;:.]? +[\p{L}`'"([$]/u;

export const strykerPlugins = [
  {
    kind: 'Ignore',
    name: 'prose',
    value: {
      /** A reason, or `undefined` to mutate the node. */
      shouldIgnore({ node }: SyntaxPath): string | undefined {
        const text =
          node.type === 'StringLiteral'
            ? node.value
            : node.type === 'TemplateLiteral'
              ? node.quasis.map(({ value }) => value.raw).join('$')
              : '';
        return prose.test(text) ? 'prose' : undefined;
      },
    },
  },
];

import { unproven } from './reading.ts';

/**
 * Accounts for every character of a script. The parser is tolerant: what it does not understand it leaves out of its
 * tree, so what no node covers must be exactly the operators and reserved words that the tree implies.
 */
export class Coverage {
  readonly #expected = new Map<string, number>();
  readonly #covered: { readonly start: number; readonly end: number }[] = [];

  cover(node: { readonly pos: number; readonly end: number }): void {
    this.#covered.push({ start: node.pos, end: node.end });
  }

  expect(...tokens: readonly string[]): void {
    for (const token of tokens) this.#expected.set(token, (this.#expected.get(token) ?? 0) + 1);
  }

  /** Ends the reading where something between `start` and `end` is left unexplained. */
  check(source: string, start: number, end: number): void {
    const found = new Map<string, number>();
    for (const token of this.#residue(source, start, end)) {
      if (token === ';' || token === '\n') continue;
      found.set(token, (found.get(token) ?? 0) + 1);
    }
    for (const token of new Set([...found.keys(), ...this.#expected.keys()])) {
      const expected = this.#expected.get(token) ?? 0;
      // The opening parenthesis of a case pattern is optional.
      const optional = token === '(' ? (this.#expected.get('case-item') ?? 0) : 0;
      const count = found.get(token) ?? 0;
      if (token !== 'case-item' && (count < expected || count > expected + optional)) {
        unproven(`expected a complete command, found something unexplained near \`${token.slice(0, 20)}\``);
      }
    }
  }

  #residue(source: string, start: number, end: number): string[] {
    const tokens: string[] = [];
    const token = /[ \t]+|\\\n|\n|#[^\n]*|&&|\|\||;;|[;&|(){}!]|[a-z]+|./sy;
    const covered = this.#covered.toSorted((a, b) => a.start - b.start);
    let at = start;
    for (const stretch of [...covered, { start: end, end }]) {
      if (stretch.start < at || stretch.end > end) unproven('a command that overlaps another');
      const gap = source.slice(at, stretch.start);
      token.lastIndex = 0;
      for (let match = token.exec(gap); match !== null; match = token.exec(gap)) {
        const [text] = match;
        if (!/^[ \t\\#]/.test(text)) tokens.push(text);
      }
      at = stretch.end;
    }
    return tokens;
  }
}

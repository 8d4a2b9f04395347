import { Marked, type MarkedToken } from 'marked';

/**
 * Signs that open or close emphasis in one part: the grammar tries each with each. More of them than a person writes
 * are no emphasis.
 */
const mostSigns = 512;
/** A line in a quote in a list in a quote … deeper than any text that is meant to be read. */
const isTooDeep = /^(?:[ \t]*(?:>|(?:[-+*]|\d{1,9}[.)])(?=[ \t]))){9}/m;

const grammar = new Marked({ gfm: true });
// HTML is text: what it says stands in the paragraph that it is in.
grammar.use({ tokenizer: { html: () => undefined, tag: () => undefined } });

/** The blocks of one part as `marked` reads them; nothing where it holds what is made to be read for ever. */
export function readMarkdown(part: string): readonly MarkedToken[] | undefined {
  if (isTooDeep.test(part) || part.split(/[*_~]/, mostSigns + 2).length > mostSigns + 1) return undefined;
  try {
    return grammar.lexer(part) as MarkedToken[];
  } catch {
    // The grammar throws where it would loop.
    return undefined;
  }
}

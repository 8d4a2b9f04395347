import { type Line, type Span, span, type Tone } from '../line.ts';
import { visible } from '../visible.ts';
import { type Asked, rowsOf, wordOf, wordsOf } from './asked.ts';

const toneOf: Readonly<Record<string, Tone>> = { safe: 'good', unknown: 'warn', dangerous: 'bad' };

/**
 * What an approval is about, command by command: each with its verdict, the rule that gave it and why; a word that
 * nobody knows before it runs, and what cannot be proven, in a colour and with a word of their own.
 */
export function commandTree({ metadata }: Pick<Asked, 'metadata'>): readonly Line[] {
  const command = wordOf(metadata.command);
  const subject = wordOf(metadata.subject);
  const text = command === '' ? subject : command;
  const shown = text.split('\n').map((line, at): Line => {
    const sign = command === '' ? '  ' : at === 0 ? '$ ' : '  ';
    return [span(sign, 'dim'), span(visible(line), 'code')];
  });
  const segments = rowsOf(metadata.segments).map(segmentLine);
  const left = typeof metadata.moreSegments === 'number' ? metadata.moreSegments : 0;
  return [
    ...shown,
    ...(segments.length > 1 || isTelling(metadata) ? segments : []),
    ...(left > 0 ? [[span(`  and ${left} more commands`, 'warn')]] : []),
    ...wordsOf(metadata.unproven).map(
      (one): Line => [span('  cannot prove: ', 'bad'), span(visible(one), 'bad')],
    ),
  ];
}

/** One command says as much as the whole, unless a word of it is unknown or it is judged otherwise than the whole. */
function isTelling({ segments, verdict }: Asked['metadata']): boolean {
  const [one] = rowsOf(segments);
  return one !== undefined && (one.verdict !== 'safe' || one.verdict !== verdict || hasUnknown(one));
}

function hasUnknown(segment: Readonly<Record<string, unknown>>): boolean {
  return rowsOf(segment.words).some(({ isKnown }) => isKnown === false);
}

function segmentLine(segment: Readonly<Record<string, unknown>>): Line {
  const verdict = wordOf(segment.verdict);
  const words = rowsOf(segment.words).flatMap(({ text, isKnown }, at): readonly Span[] => {
    const word = visible(wordOf(text));
    const told = isKnown === false ? span(`‹unknown: ${word}›`, 'bad') : span(word);
    return at === 0 ? [told] : [span(' '), told];
  });
  return [
    span(`  ${verdict}`.padEnd(13), toneOf[verdict] ?? 'warn'),
    ...words,
    span(`  ${visible(wordOf(segment.rule))}: ${visible(wordOf(segment.why))}`, 'dim'),
  ];
}

import { type Line, type Span, span, type Tone } from '../line.ts';
import { visible } from '../visible.ts';
import { type Asked, rowsOf, wordOf, wordsOf } from './asked.ts';

const toneOf: Readonly<Record<string, Tone>> = { safe: 'good', unknown: 'warn', dangerous: 'bad' };

/**
 * What an approval is about, command by command: each with its verdict, the rule that gave it and why; a word that
 * nobody knows before it runs, and what cannot be proven, in a colour and with a word of their own, once.
 */
export function commandTree({ metadata }: Pick<Asked, 'metadata'>): readonly Line[] {
  const unproven = wordsOf(metadata.unproven);
  const rows = rowsOf(metadata.segments);
  const shown = rows.length > 1 || isTelling(metadata) ? rows : [];
  const told = new Set(shown.map(({ why }) => wordOf(why)));
  const left = typeof metadata.moreSegments === 'number' ? metadata.moreSegments : 0;
  return [
    ...textLines(metadata),
    ...shown.map((row) => segmentLine(row, unproven)),
    ...(left > 0 ? [[span(`  and ${left} more commands`, 'warn')]] : []),
    ...unproven
      .filter((one) => !told.has(one))
      .map((one): Line => [span('  cannot prove: ', 'bad'), span(visible(one), 'bad')]),
  ];
}

/** As it is written; each further line behind a sign of its own, so that none passes for something that we say. */
function textLines({ command, commandLines, subject }: Asked['metadata']): readonly Line[] {
  if (wordOf(command) === '') return [[span('  ', 'dim'), span(visible(wordOf(subject)), 'code')]];
  const lines = wordsOf(commandLines);
  return (lines.length === 0 ? [wordOf(command)] : lines).map(
    (line, at): Line => [span(at === 0 ? '$ ' : '│ ', 'dim'), span(visible(line), 'code')],
  );
}

/** One command says as much as the whole, unless a word of it is unknown or it is judged otherwise than the whole. */
function isTelling({ segments, verdict }: Asked['metadata']): boolean {
  const [one] = rowsOf(segments);
  return one !== undefined && (one.verdict !== 'safe' || one.verdict !== verdict || hasUnknown(one));
}

function hasUnknown(segment: Readonly<Record<string, unknown>>): boolean {
  return rowsOf(segment.words).some(({ isKnown }) => isKnown === false);
}

function segmentLine(segment: Readonly<Record<string, unknown>>, unproven: readonly string[]): Line {
  const [verdict, why] = [wordOf(segment.verdict), wordOf(segment.why)];
  const words = rowsOf(segment.words).flatMap(({ text, isKnown }, at): readonly Span[] => {
    const word = visible(wordOf(text));
    const told = isKnown === false ? span(`‹unknown: ${word}›`, 'bad') : span(word);
    return at === 0 ? [told] : [span(' '), told];
  });
  return [
    span(`  ${verdict}`.padEnd(13), toneOf[verdict] ?? 'warn'),
    ...words,
    span(`  ${visible(wordOf(segment.rule))}: `, 'dim'),
    ...(unproven.includes(why) ? [span('cannot prove: ', 'bad')] : []),
    span(visible(why), 'dim'),
  ];
}

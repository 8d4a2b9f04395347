import { type Line, span } from '../line.ts';
import { visible, visibleLines } from '../visible.ts';
import { type Asked, rowsOf, wordOf, wordsOf } from './asked.ts';
import { section } from './section.ts';

/**
 * What a person judges before a contract is confirmed: what shall come of it, where, by what that is told, what may go
 * wrong, and what is otherwise than ever. `undefined` where the question does not say it apart from the document.
 */
export function contractEssence({ metadata }: Pick<Asked, 'metadata'>): readonly Line[] | undefined {
  const [essence] = rowsOf([metadata.essence]);
  if (essence === undefined) return undefined;
  const scope = wordsOf(metadata.scope);
  const network = wordOf(metadata.networkPolicy);
  const level = wordOf(metadata.riskLevel);
  return [
    ...visibleLines(wordOf(essence.problem)).map((line): Line => [span(`  ${line}`)]),
    ...listed('objectives', wordsOf(essence.objectives)),
    ...listed('accepted when', wordsOf(essence.acceptedWhen)),
    ...listed('the goal is held to', rowsOf(metadata.criteria).map(criterionWords)),
    [],
    fact('may write', scope.join(', ')),
    ...rowsOf(essence.checks).map(({ id, stage, command }) =>
      fact('checked by', [`${wordOf(id)} (${wordOf(stage)})`, wordOf(command)].filter(Boolean).join(': ')),
    ),
    fact('risk', [level, wordOf(essence.rationale)].filter(Boolean).join(': ')),
    ...wordsOf(essence.factors).map((factor) => fact('', factor)),
    ...(network === '' ? [] : [fact('network', network, network === 'deny' ? 'plain' : 'warn')]),
    ...section(`otherwise than is usual at ${level} risk`, wordsOf(essence.unusual), 'warn'),
    ...section('made stricter than drafted', wordsOf(essence.stricter), 'dim'),
    ...section('you decide by confirming', wordsOf(metadata.questions), 'warn'),
    ...section('missing, and needed before it can be committed', wordsOf(metadata.lacks), 'bad'),
    ...section('differs from the draft before', wordsOf(metadata.changes), 'accent'),
  ];
}

function listed(title: string, entries: readonly string[]): readonly Line[] {
  if (entries.length === 0) return [];
  return [
    [],
    [span(`  ${title}`, 'dim')],
    ...entries.map((entry): Line => [span('  • ', 'dim'), span(visible(entry))]),
  ];
}

function criterionWords({ text, checks }: Readonly<Record<string, unknown>>): string {
  return `${wordOf(text)} (verified by ${wordsOf(checks).join(', ')})`;
}

/** A name in a column of its own. */
function fact(name: string, words: string, tone: 'plain' | 'warn' = 'plain'): Line {
  return [span(`  ${name.padEnd(12)}`, 'dim'), span(visible(words), tone)];
}

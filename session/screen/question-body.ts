/* The text of a question, as both screens show it. */
import { type Asked, innerQuestions, rowsOf, wordOf, wordsOf } from './asked.ts';
import { type Line, type Span, span, type Tone, visible, visibleLines } from './line.ts';
import { grantsWords, lineCostWords, planCostWords } from './usage-words.ts';

type ToLines = (markdown: string) => readonly Line[];

export function questionBody(asked: Asked, toLines: ToLines): readonly Line[] {
  return [heading(asked), ...bodyOf(asked, toLines)];
}

function bodyOf(asked: Asked, toLines: ToLines): readonly Line[] {
  switch (asked.kind) {
    case 'approval':
    case 'sandbox_approval':
      return approvalBody(asked);
    case 'intent_review_choice':
      return contractEssence(asked) ?? toLines(documentOf(asked));
    case 'post_plan_choice':
      return planBody(asked);
    case 'request_user_input':
      return [
        ...toLines(asked.description ?? ''),
        ...innerQuestions(asked)
          // A single question is shown where it is answered.
          .filter(({ prompt }, _at, all) => all.length > 1 && prompt !== aboutOf(asked))
          .map((one): Line => [span('  ? ', 'accent'), span(visible(one.prompt))]),
      ];
  }
}

function heading(asked: Asked): Line {
  const { kind } = asked;
  // The transcript shows the plan itself.
  if (kind === 'post_plan_choice') return [span('What this plan may do', 'heading')];
  const about = aboutOf(asked);
  return [
    span(`${headings[kind]}${about === undefined ? '' : ': '}`, 'heading'),
    span(visible(about ?? ''), 'strong'),
  ];
}

function aboutOf({ kind, title, prompt }: Asked): string | undefined {
  return title ?? (kind === 'request_user_input' ? prompt : undefined);
}

const headings: Readonly<Record<Asked['kind'], string>> = {
  approval: 'Approval',
  sandbox_approval: 'Approval: sandbox',
  intent_review_choice: 'Contract',
  post_plan_choice: 'Plan',
  request_user_input: 'Question',
};

function approvalBody(asked: Asked): readonly Line[] {
  const { metadata } = asked;
  const where = [
    `in ${wordOf(metadata.cwd)}`,
    `branch ${wordOf(metadata.branch).replace(/^refs\/heads\//, '')}`,
    metadata.isOutsideSandbox === true ? 'OUTSIDE the sandbox' : 'in the sandbox',
  ].join(' · ');
  return [
    ...commandTree(asked),
    [span(`  asked because ${visible(wordOf(metadata.reason))}`, 'dim')],
    [span(`  ${visible(where)}`, metadata.isOutsideSandbox === true ? 'bad' : 'dim')],
  ];
}

function may(metadata: Asked['metadata']): Line {
  const scope = wordsOf(metadata.scope);
  return [
    span('  risk ', 'dim'),
    span(visible(wordOf(metadata.riskLevel))),
    ...(scope.length === 0 ? [] : [span(' · may write ', 'dim'), span(visible(scope.join(', ')))]),
  ];
}

function planBody({ metadata }: Asked): readonly Line[] {
  const stages = rowsOf(metadata.stages)
    .map(({ stage, checks }) => ({ stage: wordOf(stage), checks: wordsOf(checks) }))
    .map(({ stage, checks }) => (checks.length === 0 ? stage : `${stage} (${checks.join(', ')})`));
  const [attempt] = rowsOf([metadata.repair]);
  const granted = grantsWords(metadata.grants);
  return [
    may(metadata),
    ...(stages.length === 0 ? [] : [[span('  evaluated at ', 'dim'), span(visible(stages.join(' · ')))]]),
    ...(granted === '' ? [] : [[span('  executing grants the goal ', 'dim'), span(granted)]]),
    ...costLines(metadata),
    ...section('differs from the plan before', wordsOf(metadata.changes), 'accent'),
    ...section('to know', wordsOf(metadata.notices), 'warn'),
    ...(attempt === undefined
      ? []
      : [[span(`  repair ${attempt.attempt} of ${attempt.limit} failed; at most ${attempt.cap}`, 'warn')]]),
  ];
}

function costLines(metadata: Asked['metadata']): readonly Line[] {
  const words = planCostWords(metadata);
  if (words === '') return [];
  return [
    [span('  costs ', 'dim'), span(words)],
    ...lineCostWords(metadata).map((line): Line => [span(`    ${line}`, 'dim')]),
  ];
}

function section(title: string, lines: readonly string[], tone: Tone): readonly Line[] {
  if (lines.length === 0) return [];
  return [[span(`  ${title}:`, tone)], ...lines.map((line): Line => [span(`    ${visible(line)}`)])];
}

/**
 * The summary of a spec: objectives, scope, checks, risk, and unusual values. `undefined` if the question has no
 * summary.
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

function fact(name: string, words: string, tone: 'plain' | 'warn' = 'plain'): Line {
  return [span(`  ${name.padEnd(12)}`, 'dim'), span(visible(words), tone)];
}

const toneOf: Readonly<Record<string, Tone>> = { safe: 'good', unknown: 'warn', dangerous: 'bad' };

/**
 * The command of an approval, part by part with verdict, rule and reason. Unknown words and unproven claims are
 * marked.
 */
export function commandTree({ metadata }: Pick<Asked, 'metadata'>): readonly Line[] {
  const unproven = wordsOf(metadata.unproven);
  const rows = rowsOf(metadata.segments);
  const shown = rows.length > 1 || isTelling(metadata) ? rows : [];
  const reasons = new Set(shown.map(({ why }) => wordOf(why)));
  const left = typeof metadata.moreSegments === 'number' ? metadata.moreSegments : 0;
  return [
    ...textLines(metadata),
    ...shown.map((row) => segmentLine(row, unproven)),
    ...(left > 0 ? [[span(`  and ${left} more commands`, 'warn')]] : []),
    ...unproven
      .filter((one) => !reasons.has(one))
      .map((one): Line => [span('  cannot prove: ', 'bad'), span(visible(one), 'bad')]),
  ];
}

/** The text as written. Each further line has its own prefix, so that no line can pass for text of writ. */
function textLines({ command, commandLines, subject }: Asked['metadata']): readonly Line[] {
  if (wordOf(command) === '') return [[span('  ', 'dim'), span(visible(wordOf(subject)), 'code')]];
  const lines = wordsOf(commandLines);
  return (lines.length === 0 ? [wordOf(command)] : lines).map(
    (line, at): Line => [span(at === 0 ? '$ ' : '│ ', 'dim'), span(visible(line), 'code')],
  );
}

/**
 * A single command needs its own row only if it has an unknown word, is not safe, or differs from the verdict of the
 * whole.
 */
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
    const shown = isKnown === false ? span(`‹unknown: ${word}›`, 'bad') : span(word);
    return at === 0 ? [shown] : [span(' '), shown];
  });
  return [
    span(`  ${verdict}`.padEnd(13), toneOf[verdict] ?? 'warn'),
    ...words,
    span(`  ${visible(wordOf(segment.rule))}: `, 'dim'),
    ...(unproven.includes(why) ? [span('cannot prove: ', 'bad')] : []),
    span(visible(why), 'dim'),
  ];
}

export function documentOf({ title = '', description = '' }: Pick<Asked, 'title' | 'description'>): string {
  const [head = '', ...rest] = description.split('\n');
  return head === `# ${title}` ? rest.join('\n').trimStart() : description;
}

/** Splits a document at its first heading. `about` is the part before it: the author and the date. */
export function documentParts(document: string): { readonly body: string; readonly about: string } {
  const at = document.search(/^## /m);
  return at < 0 ? { body: document, about: '' } : { body: document.slice(at), about: document.slice(0, at) };
}

/** Sections that follow from rules or from other sections. */
const further: ReadonlySet<string> = new Set([
  'Limits',
  'Rights of tools',
  'Artifacts and provenance',
  'History',
]);
const missing = 'Missing here, and needed before it can be committed';

interface ContractParts {
  readonly essence: string;
  readonly rest: string;
  readonly names: readonly string[];
}

/**
 * Splits a spec document. Unknown sections belong to the essence. `lacks`: the section about missing values is shown
 * elsewhere.
 */
export function contractParts(body: string, { lacks }: { readonly lacks: boolean }): ContractParts {
  const sections = body.split(/^(?=## )/m).map((text) => ({ text, name: nameOf(text) }));
  const shown = lacks ? sections.filter(({ name }) => name !== missing) : sections;
  const [essence, rest] = [
    shown.filter(({ name }) => !further.has(name)),
    shown.filter(({ name }) => further.has(name)),
  ];
  return {
    essence: essence.map(({ text }) => text).join(''),
    rest: rest.map(({ text }) => text).join(''),
    names: rest.map(({ name }) => name),
  };
}

function nameOf(section: string): string {
  return /^## (.*)/.exec(section)?.[1]?.trim() ?? '';
}

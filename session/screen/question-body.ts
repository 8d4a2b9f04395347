/* The text of a question, as both screens show it. */
import type {
  ApprovalMetadata,
  DraftMetadata,
  InputMetadata,
  PlanMetadata,
  ShownSegment,
} from '../state/question.ts';
import type { Asked } from './asked.ts';
import { type Line, type Span, span, type Tone, visible, visibleLines } from './line.ts';
import { grantsWords, lineCostWords, planCostWords } from './words.ts';

type ToLines = (markdown: string) => readonly Line[];

export function questionBody(asked: Asked, toLines: ToLines): readonly Line[] {
  return [heading(asked), ...bodyOf(asked, toLines)];
}

function bodyOf(asked: Asked, toLines: ToLines): readonly Line[] {
  switch (asked.kind) {
    case 'approval':
    case 'sandbox_approval':
      return approvalBody(asked.metadata);
    case 'intent_review_choice':
      return contractEssence(asked.metadata) ?? toLines(documentOf(asked));
    case 'post_plan_choice':
      return planBody(asked.metadata);
    case 'request_user_input':
      return [...toLines(asked.description ?? ''), ...askedLines(asked.metadata, aboutOf(asked))];
  }
}

/** A single question is shown where it is answered. */
function askedLines({ questions = [] }: InputMetadata, about: string | undefined): readonly Line[] {
  return questions
    .filter(({ prompt }) => questions.length > 1 && prompt !== about)
    .map(({ prompt }) => [span('  ? ', 'accent'), span(visible(prompt))]);
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
  intent_review_choice: 'Spec',
  post_plan_choice: 'Plan',
  request_user_input: 'Question',
};

function approvalBody(metadata: ApprovalMetadata): readonly Line[] {
  const { task, cwd = '', branch = '', reason = '', isOutsideSandbox = false } = metadata;
  const where = [
    ...(task === undefined ? [] : [`for ${task}`]),
    `in ${cwd}`,
    `branch ${branch.replace(/^refs\/heads\//, '')}`,
    isOutsideSandbox ? 'OUTSIDE the sandbox' : 'in the sandbox',
  ].join(' · ');
  return [
    ...commandTree(metadata),
    [span(`  asked because ${visible(reason)}`, 'dim')],
    [span(`  ${visible(where)}`, isOutsideSandbox ? 'bad' : 'dim')],
  ];
}

function planBody(metadata: PlanMetadata): readonly Line[] {
  const { riskLevel = '', scope = [], stages = [], repair } = metadata;
  const evaluated = stages
    .map(({ stage, checks }) => (checks.length === 0 ? stage : `${stage} (${checks.join(', ')})`))
    .join(' · ');
  const granted = grantsWords(metadata);
  const cost = planCostWords(metadata);
  const part = (name: string, words: string): readonly Span[] =>
    words === '' ? [] : [span(name, 'dim'), span(visible(words))];
  return [
    [span('  risk ', 'dim'), span(visible(riskLevel)), ...part(' · may write ', scope.join(', '))],
    part('  evaluated at ', evaluated),
    part('  executing grants the goal ', granted),
    part('  costs ', cost),
    ...(cost === '' ? [] : lineCostWords(metadata).map((line): Line => [span(`    ${line}`, 'dim')])),
    ...section('differs from the plan before', metadata.changes, 'accent'),
    ...section('to know', metadata.notices, 'warn'),
    ...(repair === undefined
      ? []
      : [[span(`  repair ${repair.attempt} of ${repair.limit} failed; at most ${repair.cap}`, 'warn')]]),
    [span('  /review on: you see the diff before the commit', 'dim')],
  ].filter(({ length }) => length > 0);
}

function section(title: string, lines: readonly string[] = [], tone: Tone): readonly Line[] {
  if (lines.length === 0) return [];
  return [[span(`  ${title}:`, tone)], ...lines.map((line): Line => [span(`    ${visible(line)}`)])];
}

/** One part of the summary of a spec. Both screens show the parts in this order. */
interface EssencePart {
  readonly is: 'text' | 'list' | 'fact' | 'section';
  readonly name: string;
  readonly words: readonly string[];
  readonly tone: Tone;
}

/**
 * The summary of a spec: objectives, scope, checks, risk, and unusual values. `undefined` if the question has no
 * summary.
 */
export function essenceParts(metadata: DraftMetadata): readonly EssencePart[] | undefined {
  const { essence, scope = [], criteria = [], networkPolicy: network, riskLevel: level = '' } = metadata;
  if (essence === undefined) return undefined;
  const { problem = '', checks = [], factors = [], rationale = '' } = essence;
  const part =
    (is: EssencePart['is'], tone: Tone) =>
    (name: string, words: readonly string[] = []): EssencePart => ({ is, name, words, tone });
  const [list, fact] = [part('list', 'plain'), part('fact', 'plain')];
  return [
    part('text', 'plain')('', problem === '' ? [] : [problem]),
    list('objectives', essence.objectives),
    list('accepted when', essence.acceptedWhen),
    list(
      'the goal is held to',
      criteria.map(({ text, checks: ids }) => `${text} (verified by ${ids.join(', ')})`),
    ),
    fact('may write', [scope.join(', ')]),
    ...checks.map(({ id, stage, command }) =>
      fact('checked by', [[`${id} (${stage})`, command].filter(Boolean).join(': ')]),
    ),
    fact('risk', [[level, rationale].filter(Boolean).join(': ')]),
    ...factors.map((factor) => fact('', [factor])),
    part('fact', network === 'deny' ? 'plain' : 'warn')('network', network === undefined ? [] : [network]),
    part('section', 'warn')(`otherwise than is usual at ${level} risk`, essence.unusual),
    part('section', 'dim')('made stricter than drafted', essence.stricter),
    part('section', 'warn')('you decide by confirming', metadata.questions),
    part('section', 'bad')('missing, and needed before it can be committed', metadata.lacks),
    part('section', 'accent')('differs from the draft before', metadata.changes),
  ].filter(({ words }) => words.length > 0);
}

/** The summary of a spec as lines. */
export function contractEssence(metadata: DraftMetadata): readonly Line[] | undefined {
  const parts = essenceParts(metadata);
  return parts?.flatMap((part, at) => {
    const begins = part.is === 'list' || (part.is === 'fact' && parts[at - 1]?.is !== 'fact');
    return begins ? [[], ...partLines(part)] : partLines(part);
  });
}

function partLines({ is, name, words, tone }: EssencePart): readonly Line[] {
  switch (is) {
    case 'text':
      return words.flatMap(visibleLines).map((line) => [span(`  ${line}`)]);
    case 'list':
      return [
        [span(`  ${name}`, 'dim')],
        ...words.map((entry): Line => [span('  • ', 'dim'), span(visible(entry))]),
      ];
    case 'fact':
      return [[span(`  ${name.padEnd(12)}`, 'dim'), span(visible(words.join('')), tone)]];
    case 'section':
      return section(name, words, tone);
  }
}

const toneOf = { safe: 'good', unknown: 'warn', dangerous: 'bad' } as const;

/**
 * The command of an approval, part by part with verdict, rule and reason. Unknown words and unproven claims are
 * marked.
 */
export function commandTree(metadata: ApprovalMetadata): readonly Line[] {
  const { unproven = [], moreSegments = 0 } = metadata;
  const shown = shownSegments(metadata);
  return [
    ...textLines(metadata),
    ...shown.map((one) => segmentLine(one, unproven)),
    ...(moreSegments > 0 ? [[span(`  and ${moreSegments} more commands`, 'warn')]] : []),
    ...unproven
      .filter((one) => !shown.some(({ why }) => why === one))
      .map((one): Line => [span('  cannot prove: ', 'bad'), span(visible(one), 'bad')]),
  ];
}

/** The text as written. Each further line has its own prefix, so that no line can pass for text of writ. */
function textLines({
  command,
  commandLines = [],
  subject = '',
  arguments: given,
}: ApprovalMetadata): readonly Line[] {
  if (command === undefined)
    return [
      [span('  ', 'dim'), span(visible(subject), 'code')],
      ...(given === undefined ? [] : [[span('  arguments ', 'dim'), span(visible(given), 'code')]]),
    ];
  return (commandLines.length === 0 ? [command] : commandLines).map(
    (line, at): Line => [span(at === 0 ? '$ ' : '│ ', 'dim'), span(visible(line), 'code')],
  );
}

/**
 * A single command needs its own row only if it has an unknown word, is not safe, or differs from the verdict of the
 * whole.
 */
function shownSegments({ segments = [], verdict }: ApprovalMetadata): readonly ShownSegment[] {
  const [one, ...more] = segments;
  const isTold =
    more.length > 0 ||
    one?.verdict !== 'safe' ||
    one.verdict !== verdict ||
    one.words.some(({ isKnown }) => isKnown === false);
  return isTold ? segments : [];
}

function segmentLine({ verdict, why, rule, words }: ShownSegment, unproven: readonly string[]): Line {
  return [
    span(`  ${verdict}`.padEnd(13), toneOf[verdict]),
    ...words.flatMap(({ text, isKnown }, at): readonly Span[] => {
      const word = visible(text);
      const shown = isKnown === false ? span(`‹unknown: ${word}›`, 'bad') : span(word);
      return at === 0 ? [shown] : [span(' '), shown];
    }),
    span(`  ${visible(rule)}: `, 'dim'),
    ...(unproven.includes(why) ? [span('cannot prove: ', 'bad')] : []),
    span(visible(why), 'dim'),
  ];
}

export function documentOf({ title = '', description = '' }: Pick<Asked, 'title' | 'description'>): string {
  const [head = '', ...rest] = description.split('\n');
  return head === `# ${title}` ? rest.join('\n').trimStart() : description;
}

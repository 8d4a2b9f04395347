import { type Line, span } from '../line.ts';
import { visible } from '../visible.ts';
import { grantsWords } from '../words/goal-words.ts';
import { lineCostWords, planCostWords } from '../words/step-costs.ts';
import { type Asked, innerQuestions, rowsOf, wordOf, wordsOf } from './asked.ts';
import { commandTree } from './command-tree.ts';
import { contractEssence } from './contract-essence.ts';
import { documentOf } from './document-of.ts';
import { section } from './section.ts';

/** How a document in Markdown becomes lines of the screen that shows it. */
type ToLines = (markdown: string) => readonly Line[];

/** What a person reads before answering: everything that the question says, none of what may be answered. */
export function questionBody(asked: Asked, toLines: ToLines): readonly Line[] {
  return [heading(asked), ...bodyOf(asked, toLines)];
}

function bodyOf(asked: Asked, toLines: ToLines): readonly Line[] {
  switch (asked.kind) {
    case 'approval':
    case 'sandbox_approval':
      return approvalBody(asked);
    case 'intent_review_choice':
      return contractEssence(asked) ?? [...toLines(documentOf(asked)), ...contractEnd(asked)];
    case 'post_plan_choice':
      return planBody(asked);
    case 'request_user_input':
      return [
        ...toLines(asked.description ?? ''),
        ...innerQuestions(asked)
          // One alone is asked where it is answered.
          .filter(({ prompt }, _at, all) => all.length > 1 && prompt !== aboutOf(asked))
          .map((one): Line => [span('  ? ', 'accent'), span(visible(one.prompt))]),
      ];
  }
}

function heading(asked: Asked): Line {
  const { kind } = asked;
  // The plan itself stands in the transcript already.
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

/** The document is long: what a person decides on stands once more at its end, beside the answers. */
function contractEnd({ metadata }: Asked): readonly Line[] {
  const checks = wordsOf(metadata.checks);
  const network = wordOf(metadata.networkPolicy);
  return [
    [],
    [span('What you confirm', 'heading')],
    may(metadata),
    ...(checks.length === 0 ? [] : [[span('  checked by ', 'dim'), span(visible(checks.join(', ')))]]),
    ...(network === '' ? [] : [[span('  network ', 'dim'), span(visible(network))]]),
    ...section('differs from the draft before', wordsOf(metadata.changes), 'accent'),
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

/** What it is expected to cost, before anybody says yes to it. */
function costLines(metadata: Asked['metadata']): readonly Line[] {
  const words = planCostWords(metadata);
  if (words === '') return [];
  return [
    [span('  costs ', 'dim'), span(words)],
    ...lineCostWords(metadata).map((line): Line => [span(`    ${line}`, 'dim')]),
  ];
}

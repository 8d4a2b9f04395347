/* The `writ spec new` command: a draft from the risk profile, and from what a person says. */

import { draftTarget, readProposedCheck } from '../../api/intent/read-project.ts';
import { invalidWords } from '../../api/intent/read-spec.ts';
import { sealingForms } from '../../attest/attestor/sealing-forms.ts';
import { systemClock, toRfc3339 } from '../../core/base/clock.ts';
import { isWritError } from '../../core/base/errors.ts';
import { uuidV7 } from '../../core/base/ids.ts';
import type { ChangeType, IntentSpec, RiskLevel } from '../../core/interfaces/intentspec.gen.ts';
import { readRiskPolicy, riskPolicy } from '../../engine/draft/seal-request.ts';
import { changeTypeOf, specFromWords, toCheck } from '../../engine/draft/spec-from-words.ts';
import { type DraftRequest, draftFromProfile, templateWords } from '../../spec/profile.ts';
import { defaultCheck, type ProposedCheck } from '../../spec/propose-check.ts';
import { readIntentSpec } from '../../spec/read-intent-spec.ts';
import { openRepository } from '../../workspace/git/repository.ts';
import { resolveBase } from '../../workspace/git/resolve-commit.ts';
import { chooseRisk } from '../command-parts/choose-risk.ts';
import { type CommandContext, type CommandResult, succeeded } from '../command-parts/command.ts';
import { writeOutput } from '../command-parts/write-output.ts';
import { openLines } from '../terminal/open-output.ts';

/** `writ spec new`: a valid draft, to a new file or to stdout (`path` is then `-`). */
export async function run(context: CommandContext): Promise<CommandResult> {
  const { options } = context;
  const output = options.value('output') ?? '-';
  const now = systemClock.now();
  const { root, ...target } = await draftTarget(context);
  const test = await readProposedCheck(root);
  const words = await wordsOf(context, test);
  const { risk } = words;
  const given = { risk, id: uuidV7(now), createdAt: toRfc3339(now), ...target };
  // The parser checks the choice.
  const changeType = options.value('change-type') as ChangeType | undefined;
  const draft = toDraft({ ...given, ...(changeType === undefined ? {} : { changeType }) }, words, test);
  const text = `${JSON.stringify(draft, null, 2)}\n`;
  const judged = readIntentSpec(Buffer.from(text));
  if (!judged.ok)
    throw invalidWords(judged.issues, {
      summary: '`--summary`',
      detail: { option: '--summary', command: 'spec new' },
    });
  const path = output === '-' ? '-' : writeOutput(context.cwd, output, text);
  const isProposed = words.checks.length === 0;
  if (isProposed && test === undefined)
    context.print.note(
      'nothing found at the root that says how tests run: the check `node --test` is a placeholder',
    );
  const isComplete = judged.issues.every(({ code }) => code !== 'SEMANTIC_TEMPLATE_WORDS');
  const next = isComplete
    ? 'read it (`writ spec show`)'
    : 'fill in its words (`writ spec validate` lists them)';
  const data = { path, digest: judged.digest, spec: draft };
  return succeeded(data, (printer) => {
    if (path === '-') printer.raw(text);
    else if (!printer.quiet) {
      printer.line(`wrote ${path}: a draft; ${next}, then \`writ spec activate\` it`);
      if (isProposed && test !== undefined)
        printer.line(`  its check is \`${test.command}\`, from ${test.found}`);
      for (const need of needsOf(draft)) printer.line(`  a run of it needs ${need}`);
    }
  });
}

/** What a person says of a new spec. */
interface Words {
  readonly summary: string | undefined;
  readonly scope: readonly string[];
  /** Empty: the project's tests. */
  readonly checks: readonly string[];
  readonly risk: RiskLevel;
  readonly why: string;
}

/** With a scope or a check, what follows from the words is filled in too. */
function toDraft(
  given: Omit<DraftRequest, 'summary' | 'test'>,
  { summary, scope, checks, why }: Words,
  test: ProposedCheck | undefined,
): IntentSpec {
  if (scope.length === 0 && checks.length === 0)
    return draftFromProfile({
      ...given,
      ...(summary === undefined ? {} : { summary }),
      ...(test === undefined ? {} : { test }),
    });
  const spec = specFromWords({
    changeType: changeTypeOf(summary ?? ''),
    ...given,
    message: summary ?? templateWords.summary,
    inScope: scope.length > 0 ? scope : [templateWords.inScope],
    why,
    timeoutSeconds: 300,
    checks: checks.length > 0 ? checks.map(toCheck) : [test ?? defaultCheck],
  });
  return { ...spec, lifecycle: { ...spec.lifecycle, status: 'draft' } };
}

/** The words that options give. On a terminal the missing ones are asked for; an empty answer leaves one open. */
async function wordsOf(context: CommandContext, test: ProposedCheck | undefined): Promise<Words> {
  const { options, interactive, stdin, signal, print } = context;
  const given = {
    summary: options.value('summary'),
    scope: options.values('scope'),
    checks: options.values('check'),
  };
  if (!interactive) return { ...given, ...(await riskOf(context, given.scope)) };
  using lines = openLines(stdin, signal);
  const ask = async (question: string): Promise<string> => {
    print.complain(question);
    return (await lines.next())?.trim() ?? '';
  };
  const summary = given.summary ?? (await ask('what shall change? (5 to 256 characters)'));
  const scope =
    given.scope.length > 0
      ? given.scope
      : (await ask('which files may change? directories and files, such as `src/ test/`')).split(/[\s,]+/);
  const proposal = test === undefined ? 'such as `make test`' : `Enter means \`${test.command}\``;
  const checks =
    given.checks.length > 0 ? given.checks : [await ask(`which command checks it? (${proposal})`)];
  const named = scope.filter((word) => word !== '');
  return {
    summary: summary === '' ? undefined : summary,
    scope: named,
    checks: checks.filter((command) => command !== ''),
    ...(await riskOf(context, named, ask)),
  };
}

/** The risk by the policy at HEAD, where there is one. The scope is all that is known of the paths. */
async function riskOf(
  context: CommandContext,
  scope: readonly string[],
  ask?: (question: string) => Promise<string>,
): Promise<Pick<Words, 'risk' | 'why'>> {
  const repository = await openRepository(context.repoPath ?? context.cwd).catch(unlessNone);
  const tree = repository && (await resolveBase(repository, 'HEAD')).tree;
  const paths = scope.map((path) => path.replace(/\/$/, ''));
  const policy =
    repository === undefined || tree === undefined
      ? riskPolicy(undefined, paths, sealingForms)
      : await readRiskPolicy(repository, { base: { tree }, paths }, sealingForms);
  return await chooseRisk(context, policy, {
    command: 'spec new',
    asks: ask === undefined ? 'never' : 'always',
    ...(ask === undefined ? {} : { ask }),
  });
}

function unlessNone(fault: unknown): undefined {
  if (isWritError(fault, 'NOT_A_REPOSITORY')) return undefined;
  throw fault;
}

/** Returns what a draft requires that the repository does not provide. */
function needsOf({ acceptance, risk }: IntentSpec): readonly string[] {
  const { minApprovers } = risk.humanInLoop;
  const people = minApprovers === 1 ? '1 person who approves' : `${minApprovers} people who approve`;
  const analysed = acceptance.verificationPlan.securityChecks.some(({ command }) => command === 'sca');
  return [
    ...(analysed ? ['advisories: `writ sca import FILE`'] : []),
    ...(minApprovers > 0
      ? [`${people}: their keys in \`.writ/allowed_signers\` before it begins, then \`writ approve\``]
      : []),
    'rules of tools, where a model makes the change: `writ plan F --provider NAME` says which',
  ];
}

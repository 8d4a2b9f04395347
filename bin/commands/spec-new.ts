/* The `writ spec new` command: a draft from the risk profile, and from what a person says. */
import { draftTarget, readProposedCheck } from '../../api/intent/read-project.ts';
import { invalidWords } from '../../api/intent/read-spec.ts';
import { systemClock, toRfc3339 } from '../../core/base/clock.ts';
import { WritError } from '../../core/base/errors.ts';
import { uuidV7 } from '../../core/base/ids.ts';
import { printable } from '../../core/base/printable.ts';
import type { ChangeType, IntentSpec, RiskLevel } from '../../core/interfaces/intentspec.gen.ts';
import { changeTypeOf, specFromWords, toCheck } from '../../engine/draft/spec-from-words.ts';
import { type DraftRequest, draftFromProfile, riskLevels, templateWords } from '../../spec/profile.ts';
import { defaultCheck, type ProposedCheck } from '../../spec/propose-check.ts';
import { readIntentSpec } from '../../spec/read-intent-spec.ts';
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
  const given = { risk: words.risk, id: uuidV7(now), createdAt: toRfc3339(now), ...target };
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
}

/** With a scope or a check, what follows from the words is filled in too. */
function toDraft(
  given: Omit<DraftRequest, 'summary' | 'test'>,
  { summary, scope, checks }: Words,
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
    why: 'As the author of the spec stated it.',
    timeoutSeconds: 300,
    checks: checks.length > 0 ? checks.map(toCheck) : [test ?? defaultCheck],
  });
  return { ...spec, lifecycle: { ...spec.lifecycle, status: 'draft' } };
}

/** The words that options give. On a terminal the missing ones are asked for; an empty answer leaves one open. */
async function wordsOf(
  { options, interactive, stdin, signal, print }: CommandContext,
  test: ProposedCheck | undefined,
): Promise<Words> {
  const given = {
    summary: options.value('summary'),
    scope: options.values('scope'),
    checks: options.values('check'),
  };
  const level = riskLevels.find((one) => one === options.value('risk'));
  if (!interactive) return { ...given, risk: level ?? 'medium' };
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
  const risk = level ?? toRisk(await ask('which risk: low, medium or high? (Enter means medium)'));
  return {
    summary: summary === '' ? undefined : summary,
    scope: scope.filter((word) => word !== ''),
    checks: checks.filter((command) => command !== ''),
    risk,
  };
}

function toRisk(typed: string): RiskLevel {
  const level = riskLevels.find((one) => one === typed.toLowerCase());
  if (level !== undefined || typed === '') return level ?? 'medium';
  throw new WritError('USAGE', { message: `expected low, medium or high, found \`${printable(typed)}\`` });
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

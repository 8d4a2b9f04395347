import { draftTarget, readProposedCheck } from '../../api/intent/read-project.ts';
import { systemClock, toRfc3339 } from '../../core/base/clock.ts';
import { WritError } from '../../core/base/errors.ts';
import { uuidV7 } from '../../core/base/ids.ts';
import type { ChangeType, IntentSpec, RiskLevel } from '../../core/interfaces/intentspec.gen.ts';
import { draftFromProfile } from '../../spec/profile.ts';
import { readIntentSpec } from '../../spec/read-intent-spec.ts';
import { type CommandContext, type CommandResult, succeeded } from '../command-parts/command.ts';
import { writeOutput } from '../command-parts/write-output.ts';

/** `writ spec new`: a valid draft, to a new file or to stdout (`path` is then `-`). */
export async function run(context: CommandContext): Promise<CommandResult> {
  const { options } = context;
  const summary = options.value('summary');
  const changeType = options.value('change-type');
  const output = options.value('output') ?? '-';
  const now = systemClock.now();
  const { root, ...target } = await draftTarget(context);
  const test = await readProposedCheck(root);
  const draft = draftFromProfile({
    // The parser checks both choices; the draft is validated again below.
    risk: (options.value('risk') ?? 'medium') as RiskLevel,
    ...(changeType === undefined ? {} : { changeType: changeType as ChangeType }),
    ...(summary === undefined ? {} : { summary }),
    id: uuidV7(now),
    createdAt: toRfc3339(now),
    ...target,
    ...(test === undefined ? {} : { test }),
  });
  const text = `${JSON.stringify(draft, null, 2)}\n`;
  const judged = readIntentSpec(Buffer.from(text));
  if (!judged.ok) throw unusable(judged.issues);
  const path = output === '-' ? '-' : writeOutput(context.cwd, output, text);
  if (test === undefined)
    context.print.note(
      'nothing found at the root that says how tests run: the check `node --test` is a placeholder',
    );
  const data = { path, digest: judged.digest, spec: draft };
  return succeeded(data, (printer) => {
    if (path === '-') printer.raw(text);
    else if (!printer.quiet) {
      printer.line(
        `wrote ${path}: a draft; fill in its words (\`writ spec validate\` lists them), then \`writ spec activate\` it`,
      );
      if (test !== undefined) printer.line(`  its check is \`${test.command}\`, from ${test.found}`);
      for (const need of needsOf(draft)) printer.line(`  a run of it needs ${need}`);
    }
  });
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

/** Only the words of the command line can make a draft invalid; anything else is our fault. */
function unusable(
  issues: readonly { readonly severity: string; readonly path: string; readonly message: string }[],
): WritError {
  const first = issues.find(({ severity }) => severity === 'error');
  if (first?.path === '/intent/summary') {
    return new WritError('USAGE', {
      message: `\`--summary\`: ${first.message}`,
      detail: { option: '--summary', command: 'spec new' },
    });
  }
  return new WritError('INTERNAL', { message: 'the draft is not valid', detail: { issues } });
}

import { requireSpec, scopeSentences } from '../../api/intent/read-spec.ts';
import { effectiveScope } from '../../engine/plan/scope.ts';
import { rules } from '../../gates/rules.ts';
import { reviewDocument } from '../../spec/review.ts';
import { type CommandContext, type CommandResult, succeeded } from '../command-parts/command.ts';

/** `writ spec show F`: the review document of a valid contract; with `--current`, what has become of its intent. */
export async function run(context: CommandContext): Promise<CommandResult> {
  const [path = '-'] = context.args;
  if (context.options.flag('current')) {
    // Reading a file needs neither engine nor repository.
    const { showCurrent } = await import('../command-parts/drafted-run.ts');
    return showCurrent(context, path);
  }
  const { document, effective, digest, issues } = await requireSpec(
    context,
    path,
    rules.map(({ id }) => id),
  );
  const scope = scopeSentences(effectiveScope(effective));
  const markdown = reviewDocument({ document, effective, digest, issues, scope });
  return succeeded({ path, digest, markdown }, (printer) => printer.text(markdown));
}

/* The `writ spec` commands that act on a valid document, and the JSON Schemas of specs and of outputs. */
import { intentOfFile, lifecycleActor, namedIntent, toLifecycleData } from '../../api/intent/lifecycle.ts';
import { readSpecFile, requireSpec, scopeSentences } from '../../api/intent/read-spec.ts';
import { lineSchemas, outputSchemas } from '../../api/schemas/output-schemas.ts';
import { canonicalDigest, canonicalize, sha256Hex } from '../../core/base/canonical.ts';
import { WritError } from '../../core/base/errors.ts';
import { nearestName } from '../../core/base/printable.ts';
import { parseStrictJson } from '../../core/base/strict-json.ts';
import { activateIntent, closeIntent, supersedeIntent } from '../../engine/intent/close-intent.ts';
import { effectiveScope } from '../../engine/plan/scope.ts';
import { rules } from '../../gates/rules.ts';
import specSchema from '../../spec/intentspec.v1.schema.json' with { type: 'json' };
import { reviewDocument } from '../../spec/review.ts';
import { openRepository } from '../../workspace/git/repository.ts';
import { type CommandContext, type CommandResult, succeeded } from '../command-parts/command.ts';
import { openEngine } from '../command-parts/engine.ts';

/** `writ spec activate F`: draft → active, as an event; the file stays as it is. */
export async function specActivateCommand(context: CommandContext): Promise<CommandResult> {
  const repository = await openRepository(context.repoPath ?? context.cwd);
  await using engine = await openEngine(context);
  const { store, contract } = await intentOfFile(context, engine, repository, context.args[0] ?? '');
  const history = await activateIntent(store, contract, await lifecycleActor(repository));
  return succeeded(toLifecycleData(history), (printer) =>
    printer.line(`${history.specId} is ${history.status}, as the document ${contract.digest}`),
  );
}

/** `writ spec canonical F`: prints exactly the bytes that the digest covers, without a final line feed. */
export async function specCanonicalCommand(context: CommandContext): Promise<CommandResult> {
  const [path = '-'] = context.args;
  const { value } = parseStrictJson((await readSpecFile(context, path)).bytes, {
    code: 'INTENTSPEC_MALFORMED',
  });
  const canonical = canonicalize(value);
  return succeeded({ path, canonical, digest: sha256Hex(canonical) }, (printer) => printer.raw(canonical));
}

/** Maximum characters of a reason (spec field `changeLog[].reason`). */
const maxReason = 2000;

/** `writ spec close ID`: draft or active → closed by a person, as an event. */
export async function specCloseCommand(context: CommandContext): Promise<CommandResult> {
  const reason = context.options.value('reason') ?? 'closed by a person';
  if (reason.length === 0 || reason.length > maxReason || reason.includes('\0')) {
    throw new WritError('USAGE', {
      message: `expected a reason of 1 to ${maxReason} characters, found ${reason.length}`,
      detail: { option: 'reason', length: reason.length },
    });
  }
  const repository = await openRepository(context.repoPath ?? context.cwd);
  await using engine = await openEngine(context);
  const intent = await namedIntent(context, engine, repository, context.args[0] ?? '');
  const history = await closeIntent(intent, reason, await lifecycleActor(repository));
  return succeeded(toLifecycleData(history), (printer) =>
    printer.line(`${history.specId} is ${history.status}`),
  );
}

/** `writ spec digest F`: of any strict JSON document, valid as an IntentSpec or not. */
export async function specDigestCommand(context: CommandContext): Promise<CommandResult> {
  const [path = '-'] = context.args;
  const { value } = parseStrictJson((await readSpecFile(context, path)).bytes, {
    code: 'INTENTSPEC_MALFORMED',
  });
  const digest = canonicalDigest(value);
  return succeeded({ path, digest }, (printer) => printer.line(digest));
}

/**
 * `writ spec show F`: prints the review document of a valid spec. With `--current`, prints the intent's current
 * lifecycle.
 */
export async function specShowCommand(context: CommandContext): Promise<CommandResult> {
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

/** `writ spec supersede OLD NEW`: active → deprecated; each of the two intents records the other's id. */
export async function specSupersedeCommand(context: CommandContext): Promise<CommandResult> {
  const repository = await openRepository(context.repoPath ?? context.cwd);
  await using engine = await openEngine(context);
  const [oldName = '', newName = ''] = context.args;
  const old = await namedIntent(context, engine, repository, oldName);
  const next = await namedIntent(context, engine, repository, newName);
  const history = await supersedeIntent(old, next, await lifecycleActor(repository));
  return succeeded({ ...toLifecycleData(history), superseded_by: next.specId }, (printer) =>
    printer.line(`${history.specId} is ${history.status}, superseded by ${next.specId}`),
  );
}

/** `writ schema COMMAND`: the JSON Schema (2020-12) of that command's `data`. */
export async function schemaCommand(context: CommandContext): Promise<CommandResult> {
  const command = context.args.join(' ');
  const known = context.options.flag('events') ? lineSchemas : outputSchemas;
  const schema = Object.hasOwn(known, command) ? known[command] : undefined;
  if (schema === undefined) {
    const names = Object.keys(known);
    const near = nearestName(command, names);
    throw new WritError('USAGE', {
      message: `no schema for \`${command}\``,
      detail: { expected: names, found: command },
      hints: near === undefined ? [] : [`did you mean \`writ schema ${near}\`?`],
    });
  }
  return succeeded({ command, schema }, (printer) => printer.raw(`${JSON.stringify(schema, null, 2)}\n`));
}

/** `writ spec schema`: prints the JSON Schema used to validate a spec. */
export async function specSchemaCommand(_context: CommandContext): Promise<CommandResult> {
  return succeeded({ schema: specSchema }, (printer) =>
    printer.raw(`${JSON.stringify(specSchema, null, 2)}\n`),
  );
}
